/** What the function's bundle may hold, and how large the framework's share of it may be. Every cold start loads it whole. */
import type { Metafile } from 'esbuild';
import { ConfigError } from '../functions/core/errors.ts';

/** Bytes of the bundle without what only reconcilers bring: how much those need is their authors' to decide. */
export const FRAMEWORK_MAX_BYTES = 300_000;

/** Each costs more at a cold start than the rest together. */
const UNWANTED = [
  { what: 'undici', path: /node_modules\/undici\// },
  { what: 'openid-client', path: /node_modules\/openid-client\// },
  { what: 'the AWS SDK', path: /node_modules\/@aws-sdk\// },
  { what: 'generated models of client-node', path: /client-node\/dist\/gen\/models\/(V\d|all)/ },
] as const;

/** A bundle as esbuild describes it: paths relative to its working directory. */
export interface Bundle {
  readonly entry: string;
  /** The module that lists the reconcilers. */
  readonly reconcilers: string;
  readonly inputs: Metafile['inputs'];
  /** How many bytes each input has in the output. */
  readonly shares: Metafile['outputs'][string]['inputs'];
}

/** @throws ConfigError `bundle-unwanted`, `bundle-too-large` */
export function checkFunctionBundle(bundle: Bundle): void {
  const present = Object.entries(bundle.shares).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  for (const { what, path } of UNWANTED) {
    const input = present.find(([name]) => path.test(name))?.[0];
    if (input === undefined) continue;
    const advice = `reconcile.cjs contains ${what} (${input}): load it with import() where it is needed, or not at all`;
    throw new ConfigError('bundle-unwanted', advice, { facts: { input } });
  }
  const framework = frameworkOf(bundle);
  const ofFramework = present.filter(([name]) => framework.has(name)).sort(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput);
  const bytes = ofFramework.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0);
  if (bytes <= FRAMEWORK_MAX_BYTES) return;
  const largest = ofFramework[0]?.[0] ?? '';
  throw new ConfigError(
    'bundle-too-large',
    `reconcile.cjs has ${bytes} bytes without the reconcilers, at most ${FRAMEWORK_MAX_BYTES} are allowed: the largest part is ${largest}; load it with import() or leave it out`,
    { facts: { bytes, largest } },
  );
}

/** The inputs that are there whatever reconcilers there are: those that lead from the entry past the list of reconcilers. */
function frameworkOf({ entry, reconcilers, inputs }: Bundle): ReadonlySet<string> {
  const missing = [entry, reconcilers].find((name) => inputs[name] === undefined);
  if (missing !== undefined) throw new Error(`${missing} is no input of the bundle`);
  const reached = new Set<string>();
  const ahead = [entry];
  for (let path = ahead.pop(); path !== undefined; path = ahead.pop()) {
    if (path === reconcilers || reached.has(path)) continue;
    reached.add(path);
    for (const { path: next, external } of inputs[path]?.imports ?? []) if (external !== true) ahead.push(next);
  }
  return reached;
}
