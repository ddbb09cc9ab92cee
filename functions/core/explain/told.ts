/** A line for people, and what it is made of. */
import { groupKind } from '../../../events/resource.ts';
import { dogwatch } from './commands.ts';
import type { Place } from './facts.ts';
import type { Said } from './verdict.ts';

/** What is the case, what to do about it, and the command that does it or shows more. */
export interface Told {
  readonly text: string;
  readonly next: string;
  readonly command: string;
}

export function told(text: string, next: string, command: string): Told {
  return { text, next, command };
}

/** `east: Tenant.platform.example acme`. */
export function whoseText({ cluster, type, namespace, name }: Place): string {
  return `${cluster}: ${groupKind(type)} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

export function saidText({ reason, message }: Said): string {
  return message === '' ? reason : `${reason}: ${message}`;
}

export function doctor(cluster: string, ...rest: readonly string[]): string {
  return dogwatch('doctor', '--cluster', cluster, ...rest);
}

export const RUN_ONCE_MORE = 'it can be run once more';
