import type { Instance } from '../n8n/instance';
import type { Remote } from '../process';
import type { Figure } from '../report';
import type { Row } from './rounds';
import type { serve } from './service';

/** The server that all ways use. */
export type Service = Remote<Awaited<ReturnType<typeof serve>>>;

/** A complete n8n with the package, and that server. */
export interface Setup {
	instance: Instance;
	service: Service;
}

/** The setup of a piece of work, and how much of it runs. */
export interface Bench extends Setup {
	rounds: number;
	/** Whether the run only shows that everything works. */
	isSmall: boolean;
	/** Opens another n8n, for work that would delay the rest. */
	openOther(): Promise<Setup>;
}

/** Rows that are compared with each other, the first being this package. */
export interface Table {
	title: string;
	rows: Row[];
	/** The figure that the bars of the chart show; without it, the table is not in the chart. */
	bars?: 'seconds' | 'growth';
}

/** The result of a piece of work. */
export interface Section {
	title: string;
	/** Paragraphs: what was set up, and what the ways do differently. */
	about: string[];
	tables: Table[];
	goals: Figure[];
	/** Sentences about results other than the figures. */
	findings?: string[];
}

export type Work = (bench: Bench) => Promise<Section>;
