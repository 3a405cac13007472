import { valueAt } from '../json';
import type { Endpoint } from '../protocol/endpoints';
import { meaningOf } from '../protocol/errorCodes';
import { knownModels, type ModelKind } from '../protocol/models';
import type { ErrorObject } from '../reader/reason';

/** A model that belongs to another endpoint than the one it was sent to. */
export interface OtherModel {
	id: string;
	/** What it is for. */
	kind: ModelKind;
}

/** Undefined for a model of this endpoint, and for one whose kind is not known. */
export function otherModelIn(
	{ models }: Endpoint,
	{ body, form }: { body?: object; form?: FormData },
): OtherModel | undefined {
	const id = form ? form.get('model') : valueAt(body, 'model');
	const kind = typeof id === 'string' ? knownModels.get(id)?.kind : undefined;
	return kind === undefined || kind === models ? undefined : { id: String(id), kind };
}

/** The model, if the service refused the request because of it. */
export function blamedModel(
	model: OtherModel | undefined,
	status: number,
	error: ErrorObject = {},
): OtherModel | undefined {
	if (model === undefined) return undefined;
	const { param, message = '' } = error;
	const { refusal } = meaningOf(error) ?? {};
	const isNamed = param === 'model' || message.includes(model.id);
	const isMentioned = isNamed || /\bmodel/i.test(message);
	const isBlamed =
		refusal === 'unknownModel' ||
		refusal === 'unknownVideoModel' ||
		([400, 404, 422].includes(status) && isMentioned) ||
		(status === 500 && isNamed);
	return isBlamed ? model : undefined;
}
