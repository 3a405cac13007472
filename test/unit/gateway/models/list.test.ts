import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import { modelList } from '../../../../nodes/shared/gateway/models/list';
import { answerOf } from '../../../support/data/answers';

describe('the list of models', () => {
	it('reads a list of models in the form of the specification', () => {
		const data = [{ id: 'chat-1', object: 'model', created: 1, owned_by: 'a' }];
		expect(modelList(answerOf({ object: 'list', data }))).toEqual({
			models: data,
			fields: { object: 'list' },
		});
	});

	it('reads model entries in other forms, and leaves out entries that name no model', () => {
		const data = ['chat-1', { model: 'chat-2' }, { id: 3 }, {}, null, '', 7, [], { id: null }];
		const { models } = modelList(answerOf({ data }));
		expect(models.map(({ id }) => id)).toEqual(['chat-1', 'chat-2', '3']);
	});

	it.each([{}, { data: null }, { data: 'chat-1' }, null, ''])(
		'refuses %j because it is no list of models',
		(body) => {
			expect(() => modelList(answerOf(body))).toThrow(UnusableResponse);
		},
	);
});
