/** "What the service does", billing rule 3: the header that names a request in the service's billing log. */
export const requestIdHeader = 'x-request-id';

/** "Events": the last server-sent event of a streamed chat. */
export const streamEnd = '[DONE]';
