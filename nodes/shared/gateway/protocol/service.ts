/** "What the service does", billing rules 1 to 3. */
export const billing = {
	/** A call without a 2xx response, or whose response was lost, is not billed. */
	failedCallsAreBilled: false,
	requestIdHeader: 'x-request-id',
} as const;

/** "Authentication" 1 to 4. */
export const authentication = {
	header: 'Authorization',
	scheme: 'Bearer',
	invalidKey: { status: 401, code: 'invalid_api_key' },
	/** The response to a result link that is fetched with the key. */
	keyOnResultLink: { status: 403 },
	/** The response to a key whose group may not use the model. */
	noPermission: { status: 403 },
} as const;

/** "Events": nothing is pushed; results are polled for, and chat chunks are server-sent events. */
export const events = { push: false, streamEnd: '[DONE]' } as const;

/** "Versioning" 1, 3 and 4. The native messages endpoint accepts `<vendor>-version: <date>`. */
export const versioning = {
	generalPrefix: '/v1/',
	referenceVideoPrefix: '/wan/api/v1/',
	messageVersionHeaderSuffix: '-version',
	referenceVideoDocument: '1.0.0',
} as const;
