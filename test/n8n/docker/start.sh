#!/bin/sh
# The service "gateway" of compose.yaml: installs the package as n8n installs a community package, and starts the rest.
set -eu

cd /home/node
mkdir -p .n8n/nodes .n8n-files
npm install --prefix .n8n/nodes --ignore-scripts --legacy-peer-deps --no-audit --no-fund /package/*.tgz
# n8n runs as the user "node" of its image.
chown -R 1000:1000 .n8n .n8n-files

cd /package
exec node_modules/.bin/tsx test/n8n/playground.ts --n8n http://localhost:5678
