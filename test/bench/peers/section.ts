import type { Figure } from '../report';
import type { Row } from './rounds';
import type { Stage } from './stage';

export interface Options {
	rounds: number;
	/** Whether it is only to be shown that everything works. */
	isSmall: boolean;
}

/** What a work is measured with. */
export interface Bench extends Options {
	stage: Stage;
	/** Another n8n, for what would hold up the rest. */
	openStage(): Promise<Stage>;
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
