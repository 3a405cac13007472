// n8n finds the classes through the "n8n" block of package.json; requiring the package gives the same ones.
const { n8n } = require('./package.json');

for (const path of [...n8n.credentials, ...n8n.nodes]) Object.assign(exports, require(`./${path}`));
