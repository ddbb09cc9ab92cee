import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { customResourceDefinition } from '../../../functions/core/custom-resource-definition.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import { defineResource, RESERVED_COLUMNS, RESERVED_STATUS_FIELDS } from '../../../functions/core/resource-definition.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';
import { declaration, tickets } from './tickets.ts';

interface Version {
  readonly schema: { readonly openAPIV3Schema: { required?: string[]; properties: Record<'spec' | 'status', Record<string, unknown>> } };
  readonly additionalPrinterColumns: readonly { name: string; type: string; jsonPath: string; priority?: number }[];
}

function versionOf(crd: { readonly spec: Readonly<Record<string, unknown>> }): Version {
  return (crd.spec['versions'] as readonly Version[])[0] as Version;
}

describe('customResourceDefinition', () => {
  it('is for Tenant exactly what kube-apiserver 1.36 was seen to accept, key for key in order', () => {
    const sample = readFileSync(new URL('./samples/tenant-crd.json', import.meta.url), 'utf8');
    assert.equal(`${JSON.stringify(customResourceDefinition(tenant.resource), null, 2)}\n`, sample);
  });

  it('has the columns that the watcher reads, the author’s after Reason', () => {
    const columns = [{ name: 'Phase', type: 'string', jsonPath: '.status.phase', priority: 1 }] as const;
    const { additionalPrinterColumns } = versionOf(customResourceDefinition(defineResource({ ...declaration, columns })));
    const shown = additionalPrinterColumns.map(({ name, type, priority = 0 }) => `${name} ${type} ${priority}`);
    assert.deepEqual(shown, [
      'Ready string 0',
      'Reason string 0',
      'Phase string 1',
      'Age date 0',
      'Observed integer 1',
      'Attempted integer 1',
      'Revision integer 1',
      'Stalled integer 1',
      'Next string 1',
    ]);
    const names = new Set(['Name', ...additionalPrinterColumns.map(({ name }) => name)]);
    assert.deepEqual(
      RESERVED_COLUMNS.filter((name) => !names.has(name)),
      [],
    );
  });

  it('has every status field of the framework, and conditions as a map keyed by type', () => {
    const { status } = versionOf(customResourceDefinition(tickets)).schema.openAPIV3Schema.properties;
    const properties = status['properties'] as Record<string, Record<string, unknown>>;
    for (const field of RESERVED_STATUS_FIELDS) assert.ok(properties[field], field);
    assert.equal(properties['conditions']?.['x-kubernetes-list-type'], 'map');
    assert.deepEqual(properties['conditions']?.['x-kubernetes-list-map-keys'], ['type']);
  });

  it('asks for no status field, since a failure is written before the first success, and defaults none', () => {
    const status = z.object({ phase: z.string().default('New'), counts: z.record(z.string(), z.object({ n: z.int().default(0) })) });
    const crd = customResourceDefinition(defineResource({ ...declaration, status }));
    const schema = versionOf(crd).schema.openAPIV3Schema.properties.status;
    assert.equal(schema['required'], undefined);
    assert.equal(JSON.stringify(schema).includes('"default"'), false);
  });

  it('asks for a spec only if the spec has something to ask for', () => {
    assert.deepEqual(versionOf(customResourceDefinition(tickets)).schema.openAPIV3Schema.required, ['spec']);
    const optional = defineResource({ ...declaration, spec: z.object({ size: z.int().default(1) }) });
    assert.equal(versionOf(customResourceDefinition(optional)).schema.openAPIV3Schema.required, undefined);
  });

  it('has the names of the kind, short ones where there are any', () => {
    const { spec, metadata } = customResourceDefinition(defineResource({ ...declaration, shortNames: ['tk'] }));
    assert.deepEqual(spec['names'], { plural: 'tickets', singular: 'ticket', kind: 'Ticket', listKind: 'TicketList', shortNames: ['tk'] });
    assert.equal(metadata.name, 'tickets.lab.example');
  });

  it('names the field that a CRD cannot have', () => {
    const spec = z.object({ rules: z.array(z.object({ port: z.union([z.boolean(), z.string()]) })) });
    assert.throws(
      () => customResourceDefinition(defineResource({ ...declaration, spec })),
      (error) => error instanceof ConfigError && error.message.startsWith('spec.rules[].port: '),
    );
  });
});
