import {
	finishReasons,
	messageRoles,
	streamEnd,
} from '../../../../nodes/shared/gateway/protocol/chat';

describe('the chat protocol', () => {
	it('has the roles, the finish reasons and the end of a stream of the service', () => {
		expect(messageRoles).toEqual(['system', 'user', 'assistant', 'function', 'tool']);
		expect(Object.keys(finishReasons)).toEqual([
			...['stop', 'length', 'content_filter', 'function_call', 'tool_calls'],
		]);
		expect(streamEnd).toBe('[DONE]');
	});
});
