/** Where the gateway is and how it is spoken to: checked, and fit for use. */
export interface Connection {
	/** Without a trailing slash; may carry a path. */
	baseUrl: string;
	/** Serves the same paths ("Specification", first paragraph). */
	backupUrl?: string;
	/** Name of the header that makes a video task asynchronous. */
	asyncHeaderName: string;
	/** The API key, to be blotted out of everything that is shown. */
	key: string;
}
