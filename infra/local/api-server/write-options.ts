/** The options of a write, from its query and headers, checked as the real server checks them. */
import type { StatusCause } from './api-fault.ts';
import type { FieldValidation } from './api-object.ts';
import { booleanOf, invalidOptions } from './list-options.ts';

interface QueryOptions {
  readonly manager: string;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean;
  readonly isDryRun: boolean;
}

const MAX_MANAGER_BYTES = 128;
const VALIDATIONS = ['Ignore', 'Warn', 'Strict'] as const;

/** @throws ApiFault 422 with all that is wrong */
export function writeOptionsOf(
  query: URLSearchParams,
  userAgent: string | undefined,
  verb: 'Create' | 'Update' | 'Patch' | 'apply',
): QueryOptions {
  const causes: StatusCause[] = [];
  const named = query.get('fieldManager') ?? '';
  if (verb === 'apply' && named === '') {
    causes.push({ reason: 'FieldValueRequired', message: 'Required value: is required for apply patch', field: 'fieldManager' });
  }
  if (verb === 'Patch' && query.has('force')) {
    causes.push({ reason: 'FieldValueForbidden', message: 'Forbidden: may not be specified for non-apply patch', field: 'force' });
  }
  if (Buffer.byteLength(named) > MAX_MANAGER_BYTES) {
    const message = `Too long: may not be more than ${MAX_MANAGER_BYTES} bytes`;
    causes.push({ reason: 'FieldValueTooLong', message, field: 'fieldManager' });
  }
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  if (dryRun.some((value) => value !== 'All')) {
    const message = `Unsupported value: ${JSON.stringify(dryRun[0])}: supported values: "All"`;
    causes.push({ reason: 'FieldValueNotSupported', message, field: 'dryRun' });
  }
  const asked = query.get('fieldValidation') ?? '';
  const fieldValidation = asked === '' ? 'Warn' : VALIDATIONS.find((value) => value === asked);
  if (fieldValidation === undefined) {
    const message = `Unsupported value: ${JSON.stringify(asked)}: supported values: "", "Ignore", "Strict", "Warn"`;
    causes.push({ reason: 'FieldValueNotSupported', message, field: 'fieldValidation' });
  }
  if (causes.length > 0 || fieldValidation === undefined) {
    throw invalidOptions(`${verb === 'apply' ? 'Patch' : verb}Options`, causes);
  }
  const manager = named === '' ? managerFrom(userAgent) : named;
  return { manager, fieldValidation, force: booleanOf(query, 'force'), isDryRun: dryRun.length > 0 };
}

/** A client that names no manager is known by the first part of its user agent. */
export function managerFrom(userAgent: string | undefined): string {
  const [first = ''] = (userAgent ?? '').split('/');
  return first.slice(0, MAX_MANAGER_BYTES) || 'unknown';
}
