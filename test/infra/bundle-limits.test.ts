import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Bundle, checkFunctionBundle, FRAMEWORK_MAX_BYTES } from '../../infra/bundle-limits.ts';

/** What imports what, and how many bytes each has. */
function bundleOf(files: Readonly<Record<string, readonly [bytes: number, ...imports: string[]]>>): Bundle {
  const entries = Object.entries(files);
  return {
    entry: 'handler.ts',
    reconcilers: 'reconcilers.ts',
    inputs: Object.fromEntries(
      entries.map(([name, [bytes, ...imports]]) => [name, { bytes, imports: imports.map((path) => ({ path, kind: 'import-statement' })) }]),
    ),
    shares: Object.fromEntries(entries.map(([name, [bytesInOutput]]) => [name, { bytesInOutput }])),
  };
}

const MOST = FRAMEWORK_MAX_BYTES;

describe('checkFunctionBundle', () => {
  it('lets pass what is as large as the limit', () => {
    checkFunctionBundle(
      bundleOf({ 'handler.ts': [1, 'core.ts', 'reconcilers.ts'], 'core.ts': [MOST - 1, 'handler.ts'], 'reconcilers.ts': [1] }),
    );
  });

  it('does not go by names that are not in the bundle', () => {
    assert.throws(() => checkFunctionBundle(bundleOf({ 'handler.ts': [1] })), /reconcilers\.ts is no input of the bundle/);
    assert.throws(() => checkFunctionBundle(bundleOf({ 'reconcilers.ts': [1] })), /handler\.ts is no input of the bundle/);
  });

  it('refuses one byte more, naming the largest part', () => {
    const bundle = bundleOf({ 'handler.ts': [1, 'core.ts', 'reconcilers.ts'], 'core.ts': [MOST], 'reconcilers.ts': [MOST * 2] });
    assert.throws(() => checkFunctionBundle(bundle), {
      code: 'bundle-too-large',
      message: new RegExp(`^reconcile\\.cjs has ${MOST + 1} bytes without the reconcilers, .* the largest part is core\\.ts;`),
    });
  });

  it('counts nothing that only reconcilers bring', () => {
    const reconcilers: readonly [number, ...string[]] = [MOST, 'library.ts', 'core.ts'];
    checkFunctionBundle(
      bundleOf({
        'handler.ts': [1, 'core.ts', 'reconcilers.ts'],
        'core.ts': [1],
        'reconcilers.ts': reconcilers,
        'library.ts': [MOST],
      }),
    );
  });

  it('counts what both bring', () => {
    const bundle = bundleOf({ 'handler.ts': [1, 'zod.js', 'reconcilers.ts'], 'reconcilers.ts': [1, 'zod.js'], 'zod.js': [MOST] });
    assert.throws(() => checkFunctionBundle(bundle), { code: 'bundle-too-large' });
  });

  it('refuses what slows every cold start, also from a reconciler, unless nothing of it is left', () => {
    const sdk = 'node_modules/@aws-sdk/client-sqs/index.js';
    const bundle = (bytes: number) => bundleOf({ 'handler.ts': [1, 'reconcilers.ts'], 'reconcilers.ts': [1, sdk], [sdk]: [bytes] });
    assert.throws(() => checkFunctionBundle(bundle(1)), { code: 'bundle-unwanted', message: /contains the AWS SDK \(node_modules/ });
    checkFunctionBundle(bundle(0));
  });
});
