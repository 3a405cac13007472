import type { Instance } from '../../n8n/instance';
import type { Remote } from '../process';
import type { Figure } from '../report';
import type { Row } from './rounds';
import type { serve } from './service';

/** The server that all ways talk to. */
export type Service = Remote<Awaited<ReturnType<typeof serve>>>;

/** A complete n8n with the package, and that server. */
export interface Setup {
	instance: Instance;
	service: Service;
}

/** What a work is measured with. */
export interface Bench extends Setup {
	rounds: number;
	/** Whether it is only to be shown that everything works. */
	isSmall: boolean;
	/** Another n8n, for what would hold up the rest. */
	openOther(): Promise<Setup>;
}

/** Rows that are compared with each other, the first being this package. */
export interface Table {
	title: string;
	rows: Row[];
	/** What the bars of the picture show; none: it is not in the picture. */
	bars?: 'seconds' | 'growth';
}

/** What a work gave. */
export interface Section {
	title: string;
	/** Paragraphs: what was set up, and what the ways do differently. */
	about: string[];
	tables: Table[];
	goals: Figure[];
	/** Sentences about what came out beside the figures. */
	findings?: string[];
}

export type Work = (bench: Bench) => Promise<Section>;
