/** The contract that the embedded API server and the real one keep alike. */
import { after, before, describe, it } from 'node:test';
import type { ContractCase } from './case.ts';
import { discoveryCases } from './discovery-cases.ts';
import { formCases } from './form-cases.ts';
import { generationCases } from './generation-cases.ts';
import { historyCases } from './history-cases.ts';
import { Lab } from './lab.ts';
import { ownershipCases } from './ownership-cases.ts';
import { readingCases } from './reading-cases.ts';
import { refusalCases } from './refusal-cases.ts';
import { statusApplyCases } from './status-apply-cases.ts';
import { tableCases } from './table-cases.ts';
import { watchCases } from './watch-cases.ts';
import type { WireServer } from './wire.ts';
import { writeCases } from './write-cases.ts';

export const SECTIONS: readonly (readonly [title: string, cases: readonly ContractCase[]])[] = [
  ['discovery and definitions', discoveryCases],
  ['generation and resourceVersion', generationCases],
  ['forms of an answer', formCases],
  ['reads', readingCases],
  ['tables', tableCases],
  ['watches', watchCases],
  ['apply on status', statusApplyCases],
  ['other writes', writeCases],
  ['refusals', refusalCases],
  ['finalizers, owners and namespaces', ownershipCases],
  ['history that is gone', historyCases],
];

export interface ContractServer extends WireServer {
  stop(): Promise<void>;
}

export function describeApiServer(name: string, start: () => Promise<ContractServer>): void {
  describe(`${name} as a Kubernetes API server`, { timeout: 600_000 }, () => {
    let server: ContractServer | undefined;
    let lab: Lab;
    before(async () => {
      server = await start();
      lab = new Lab(server);
      await lab.install();
    });
    after(async () => {
      lab?.close();
      await server?.stop();
    });
    for (const [title, cases] of SECTIONS) {
      // Each case has names of its own, and most of the time of a watch is waiting.
      describe(title, { concurrency: 8 }, () => {
        for (const each of cases) it(each.name, () => each.run(lab));
      });
    }
  });
}
