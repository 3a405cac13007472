/** The address and credentials of the gateway, already validated. */
export interface Connection {
	/** Without a trailing slash; may carry a path. */
	baseUrl: string;
	/** Serves the same paths ("Specification", first paragraph). */
	backupUrl?: string;
	/** Name of the header that makes a video task asynchronous. */
	asyncHeaderName: string;
	/** The API key, which is redacted from everything that is shown. */
	key: string;
}
