/** The kinds of the lab, in which a real server 1.36 was recorded, and what tests of writes share. */
import assert from 'node:assert/strict';
import { ApiFault } from '../../../../infra/local/api-server/api-fault.ts';
import type { JsonObject, JsonSchema, KindInfo, KubeObject, WriteContext } from '../../../../infra/local/api-server/api-object.ts';
import { applyObject, createObject, patchObject, updateObject } from '../../../../infra/local/api-server/write-object.ts';

export const GROUP = 'lab.example.com';
export const API_VERSION = `${GROUP}/v1`;

const condition: JsonSchema = {
  type: 'object',
  required: ['type', 'status'],
  properties: {
    type: { type: 'string' },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: { type: 'integer', format: 'int64' },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    reason: { type: 'string' },
    message: { type: 'string' },
  },
};

export const KEYED_BY_TYPE = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] };

/** The lab's schema; `conditions` are the list's extensions. */
export const labSchema = (conditions: JsonSchema = KEYED_BY_TYPE): JsonSchema => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', minimum: 0 },
        tier: { type: 'string' },
        blob: { type: 'string' },
        tags: { type: 'array', items: { type: 'string' } },
      },
    },
    status: {
      type: 'object',
      properties: {
        observedGeneration: { type: 'integer', format: 'int64' },
        phase: { type: 'string' },
        detail: { type: 'string' },
        conditions: { type: 'array', items: condition, ...conditions },
      },
    },
    data: { type: 'string' },
  },
});

export const customKind = (kind: string, schema: JsonSchema = labSchema(), more: Partial<KindInfo> = {}): KindInfo => ({
  group: GROUP,
  version: 'v1',
  kind,
  listKind: `${kind}List`,
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  shortNames: [],
  categories: [],
  namespaced: true,
  isCustom: true,
  schema,
  hasStatus: true,
  hasGeneration: true,
  columns: [],
  selectableFields: [],
  ...more,
});

export const widget = customKind('Widget');
/** Without a status endpoint. */
export const plain = customKind('Plain', labSchema(), { hasStatus: false });
/** Conditions are one value. */
export const atomicKind = customKind('Atomic', labSchema({}));

export const builtIn = (kind: string, plural: string, more: Partial<KindInfo> = {}): KindInfo => {
  const { schema: _, ...rest } = customKind(kind);
  return { ...rest, group: '', plural, isCustom: false, hasStatus: false, hasGeneration: false, ...more };
};
export const configMap = builtIn('ConfigMap', 'configmaps');
export const namespaceKind = builtIn('Namespace', 'namespaces', { namespaced: false, hasStatus: true });

export const NOW = new Date('2026-11-29T15:38:44.500Z');

/** A write of `unknown`, as curl without a user agent makes one. uids count up from 1. */
export function contextOf(more: Partial<WriteContext> = {}): WriteContext {
  let uids = 0;
  return {
    now: NOW,
    uid: () => `00000000-0000-4000-8000-${String(++uids).padStart(12, '0')}`,
    suffix: () => 'x7k2p',
    manager: '',
    fieldValidation: 'Warn',
    subresource: '',
    namespace: 'lab',
    force: false,
    warnings: [],
    ...more,
  };
}

export const bodyOf = (kind: KindInfo, name: string, more: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
  kind: kind.kind,
  metadata: { name, ...metadata },
  ...more,
});

/** One object that is written again and again, with the resourceVersion that a store would count. */
export class Written {
  object: KubeObject;
  readonly kind: KindInfo;
  #version = 100;

  constructor(kind: KindInfo, object: KubeObject) {
    this.kind = kind;
    this.object = this.#next(object);
  }

  static create(kind: KindInfo, name: string, content: JsonObject = { spec: { size: 1 } }, metadata: JsonObject = {}): Written {
    return new Written(kind, createObject(kind, bodyOf(kind, name, content, metadata), contextOf()));
  }

  /** True if the write changed the object. */
  apply(manager: string, body: JsonObject, more: Partial<WriteContext> = {}): boolean {
    const { name } = this.object.metadata;
    return this.#take(applyObject(this.kind, this.object, bodyOf(this.kind, name, body), contextOf({ manager, name, ...more })));
  }

  applyStatus(manager: string, status: JsonObject, more: Partial<WriteContext> = {}): boolean {
    return this.apply(manager, { status }, { subresource: 'status', ...more });
  }

  merge(patch: JsonObject, more: Partial<WriteContext> = {}): boolean {
    return this.#take(patchObject(this.kind, this.object, patch, 'merge', contextOf({ name: this.object.metadata.name, ...more })));
  }

  patch(operations: readonly JsonObject[], more: Partial<WriteContext> = {}): boolean {
    return this.#take(patchObject(this.kind, this.object, operations, 'json', contextOf({ name: this.object.metadata.name, ...more })));
  }

  put(change: (draft: JsonObject) => void, more: Partial<WriteContext> = {}): boolean {
    const draft = structuredClone(this.object) as JsonObject;
    change(draft);
    return this.#take(updateObject(this.kind, this.object, draft, contextOf({ name: this.object.metadata.name, ...more })));
  }

  /** What DELETE makes of an object that finalizers hold. */
  beginDeletion(): void {
    const { generation = 0 } = this.object.metadata;
    const deletion = { deletionTimestamp: '2026-11-29T15:39:00Z', deletionGracePeriodSeconds: 0, generation: generation + 1 };
    this.object = this.#next({ ...this.object, metadata: { ...this.object.metadata, ...deletion } });
  }

  get status(): unknown {
    return this.object['status'];
  }

  /** `manager/operation/subresource` of each entry. */
  get owners(): string[] {
    return (this.object.metadata.managedFields ?? []).map((entry) => [entry.manager, entry.operation, entry.subresource ?? ''].join('/'));
  }

  fieldsOf(manager: string): JsonObject | undefined {
    return this.object.metadata.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1;
  }

  #take({ object, changed }: { object: KubeObject; changed: boolean }): boolean {
    if (changed) this.object = this.#next(object);
    return changed;
  }

  #next(object: KubeObject): KubeObject {
    this.#version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
  }
}

/** The Status object of the refusal. */
export function refusalOf(write: () => unknown): JsonObject {
  try {
    write();
  } catch (error) {
    if (error instanceof ApiFault) return error.toStatus();
    throw error;
  }
  return assert.fail('the write was not refused');
}

/** Code, reason, message and causes of a refusal, for tables. */
export function shortRefusal(write: () => unknown): unknown[] {
  const { code, reason, message } = refusalOf(write);
  return [code, reason, message];
}
