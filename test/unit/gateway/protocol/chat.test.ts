import {
	finishReasons,
	messageRoles,
	streamEnd,
} from '../../../../nodes/shared/gateway/protocol/chat';

describe('the chat protocol', () => {
	it("lists the service's roles, finish reasons and end of a stream", () => {
		expect(messageRoles).toEqual(['system', 'user', 'assistant', 'function', 'tool']);
		expect(Object.keys(finishReasons)).toEqual([
			...['stop', 'length', 'content_filter', 'function_call', 'tool_calls'],
		]);
		expect(streamEnd).toBe('[DONE]');
	});
});
