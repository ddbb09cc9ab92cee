/** One thing that is true of an API server, as far as Dogwatch and its users rest on it. */
import type { Lab } from './lab.ts';

export interface ContractCase {
  /** A sentence. */
  readonly name: string;
  run(lab: Lab): Promise<void>;
}
