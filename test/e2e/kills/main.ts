import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { print, printFigures, printSummary, type Figure } from '../../bench/report';
import { ordersSection } from './orders/section';
import { waitsSection } from './waits/section';

const usage = `Ends a complete n8n in the midst of workflows that order, await and save videos, with all settings as they
come; starts it again, and looks what became of each. It needs no key and talks to this machine only.

  npm run test:kills -- [options]

  --only <section>      waits: n8n ends while videos are awaited
                        orders: n8n is killed at every moment of an order
                        stops: the same with Stop, and n8n is started anew before Retry
                        queue: the same with workers, of which one takes over from the other
  --rounds <number>     of waits: how often n8n is ended by each signal (2)
  --workflows <number>  of waits: how many are started in a round (22)
  --seed <text>         of waits: what the moments are drawn from (1)
  --help                this text

The exit code is 1 when a video was lost, or charged twice.`;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			only: { type: 'string' },
			rounds: { type: 'string', default: '2' },
			workflows: { type: 'string', default: '22' },
			seed: { type: 'string', default: '1' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return print(usage);
	process.once('SIGINT', () => process.exit(130));

	const { only, rounds, workflows, seed } = values;
	const sections: Record<string, () => Promise<Figure[]>> = {
		waits: async () =>
			await waitsSection({ rounds: Number(rounds), workflows: Number(workflows), seed }),
		orders: async () => await ordersSection('orders'),
		stops: async () => await ordersSection('stops'),
		queue: async () => await ordersSection('queue'),
	};
	const chosen = Object.entries(sections).filter(([name]) => only === undefined || name === only);
	if (chosen.length === 0) throw new Error(`There is no section ${only}`);
	const figures: Figure[] = [];
	for (const [, section] of chosen) figures.push(...(await section()));

	print();
	printFigures(figures);
	print();
	printSummary(figures);
	if (figures.some(({ met }) => met === false)) process.exitCode = 1;
}

main().catch((error: Error) => {
	process.stderr.write(`${pc.red('The sweep broke:')} ${error.stack}\n`);
	process.exitCode = 1;
});
