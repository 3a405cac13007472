import { describeBody } from '../../../../nodes/shared/service/client/response';
import { answerOf } from '../../../support/data/answers';

const isPage = 'is a web page instead of JSON';

it.each([
	['broke off: aborted', answerOf('{"id":', { json: undefined, broken: 'aborted' })],
	['is empty', answerOf(' \n')],
	[isPage, answerOf('hello', { headers: { 'content-type': 'text/html' } })],
	[isPage, answerOf(' <!DOCTYPE html>')],
	['is not JSON: {"id":', answerOf('{"id":')],
	['has an unexpected form: [1,2]', answerOf([1, 2])],
	[`is not JSON: ${'x'.repeat(120)}…`, answerOf('x'.repeat(1000))],
])('says of an unusable body that it %s', (expected, response) => {
	expect(describeBody(response)).toBe(expected);
});
