/** The contract that the embedded API server and the real one keep alike. */
import { after, before, describe, it } from 'node:test';
import type { ContractCase } from './case.ts';
import { formCases } from './form-cases.ts';
import { generationCases } from './generation-cases.ts';
import { Lab } from './lab.ts';
import { readingCases } from './reading-cases.ts';
import { tableCases } from './table-cases.ts';
import { watchCases } from './watch-cases.ts';
import type { WireServer } from './wire.ts';

const SECTIONS: readonly (readonly [title: string, cases: readonly ContractCase[]])[] = [
  ['generation and resourceVersion', generationCases],
  ['forms of an answer', formCases],
  ['reads', readingCases],
  ['tables', tableCases],
  ['watches', watchCases],
];

export interface ContractServer extends WireServer {
  stop(): Promise<void>;
}

export function describeApiServer(name: string, start: () => Promise<ContractServer>): void {
  describe(`${name} as a Kubernetes API server`, { timeout: 300_000 }, () => {
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
      describe(title, () => {
        for (const each of cases) it(each.name, () => each.run(lab));
      });
    }
  });
}
