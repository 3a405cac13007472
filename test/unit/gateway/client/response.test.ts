import {
	describeBody,
	type ServiceResponse,
} from '../../../../nodes/shared/gateway/client/response';
import { answerOf } from '../../../support/data/answers';

const cutAfter = (text: string, headers = {}) =>
	answerOf(text, { headers, json: undefined, broken: 'aborted' });

describe('the description of an unusable body', () => {
	it.each<[string, ServiceResponse]>([
		['broke off: aborted', cutAfter('{"id":')],
		['is empty', answerOf(' \n')],
		[
			'is a web page instead of JSON',
			answerOf('hello', { headers: { 'content-type': 'text/html' } }),
		],
		['is a web page instead of JSON', answerOf(' <!DOCTYPE html>')],
		['is not JSON: {"id":', answerOf('{"id":')],
		['has an unexpected form: [1,2]', answerOf([1, 2])],
	])('says that the body %s', (expected, response) => {
		expect(describeBody(response)).toBe(expected);
	});

	it('shortens the description of a long body', () => {
		expect(describeBody(answerOf('x'.repeat(1000)))).toHaveLength('is not JSON: '.length + 121);
	});
});
