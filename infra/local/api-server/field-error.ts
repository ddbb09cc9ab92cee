/** Faults of single fields, worded as the API server words them, and the 422 that carries them. */
import { ApiFault, type StatusCause } from './api-fault.ts';
import type { KindInfo } from './api-object.ts';

/** One faulty field. `message` leaves the field's path out. */
export interface FieldError {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
}

/** A value that breaks a rule; `detail` says which. */
export const invalid = (field: string, value: unknown, detail: string): FieldError =>
  withValue('FieldValueInvalid', 'Invalid value', field, value, detail);

/** A value of another JSON type than the schema wants. The value shown is the type's name, in most cases. */
export const typeInvalid = (field: string, value: unknown, detail: string): FieldError =>
  withValue('FieldValueTypeInvalid', 'Invalid value', field, value, detail);

/** A value that is there already. */
export const duplicate = (field: string, value: unknown): FieldError =>
  withValue('FieldValueDuplicate', 'Duplicate value', field, value, '');

/** A value that is not one of those `supported`. */
export const notSupported = (field: string, value: unknown, supported: readonly unknown[]): FieldError => {
  const texts = supported.map((one) => JSON.stringify(typeof one === 'string' ? one : JSON.stringify(one)));
  return withValue('FieldValueNotSupported', 'Unsupported value', field, value, `supported values: ${texts.join(', ')}`);
};

/** More items or properties than `max`. */
export const tooMany = (field: string, actual: number, max: number): FieldError =>
  withValue('FieldValueTooMany', 'Too many', field, actual, `must have at most ${max} ${max === 1 ? 'item' : 'items'}`);

/** The server's text says bytes, although the schema counts characters. */
export const tooLong = (field: string, max: number): FieldError =>
  withoutValue('FieldValueTooLong', 'Too long', field, `may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}`);

/** Something that is not there. */
export const required = (field: string, detail = ''): FieldError => withoutValue('FieldValueRequired', 'Required value', field, detail);

/** A value that would be good at another time, or in another object. */
export const forbidden = (field: string, detail: string): FieldError => withoutValue('FieldValueForbidden', 'Forbidden', field, detail);

/** 422 Invalid about an object of the kind. */
export function invalidObject(kind: Pick<KindInfo, 'group' | 'kind'>, name: string, errors: readonly FieldError[]): ApiFault {
  const groupKind = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const causes = errors.map(({ reason, message, field }): StatusCause => ({ reason, message, field: shown(field) }));
  return new ApiFault(422, `${groupKind} ${JSON.stringify(name)} is invalid: ${aggregate(errors)}`, {
    reason: 'Invalid',
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      ...(kind.kind === '' ? {} : { kind: kind.kind }),
      causes,
    },
  });
}

/** How the server prints the path of a fault of the whole. */
const shown = (field: string): string => (field === '' ? '<nil>' : field);

/** `field: message`, or all of them in brackets. What is said twice stands there once. */
function aggregate(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(({ field, message }) => `${shown(field)}: ${message}`))];
  return texts.length === 1 ? String(texts[0]) : `[${texts.join(', ')}]`;
}

function withValue(reason: string, title: string, field: string, value: unknown, detail: string): FieldError {
  return { reason, field, message: `${title}: ${JSON.stringify(value) ?? 'null'}${detail === '' ? '' : `: ${detail}`}` };
}

function withoutValue(reason: string, title: string, field: string, detail: string): FieldError {
  return { reason, field, message: detail === '' ? title : `${title}: ${detail}` };
}
