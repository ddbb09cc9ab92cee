/** A copy of what osls reads, in a folder of its own: packaging writes beside serverless.yml, and tests run at once. */
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { zipSync } from 'fflate';
import { type CommandResult, runCommand } from '../../../infra/local/run-command.ts';
import type { Template } from './template.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const OSLS = join(ROOT, 'node_modules/osls/bin/serverless.js');

export interface Service {
  readonly dir: string;
  /** Where what is deployed is expected; an empty zip until somebody builds. */
  readonly dist: string;
  /** Runs osls with exactly `env`, PATH and a home of its own; what it says is in the result, whatever its exit code. */
  osls(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<CommandResult>;
  remove(): void;
}

export function createService(): Service {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-service-'));
  for (const path of globSync('{serverless.yml,infra/*.yml,infra/*.cjs}', { cwd: ROOT })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    copyFileSync(join(ROOT, path), join(dir, path));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  const dist = join(dir, 'dist');
  mkdirSync(dist);
  writeFileSync(join(dist, 'reconcile.zip'), zipSync({}));
  return {
    dir,
    dist,
    osls: (words, env = {}) =>
      runCommand(process.execPath, [OSLS, ...words], {
        cwd: dir,
        env: { PATH: process.env['PATH'] ?? '', HOME: dir, NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/node'), ...env },
        timeoutSeconds: 120,
      }),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** Nobody answers there: what asks AWS for anything fails. */
const NO_AWS = { AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_EC2_METADATA_DISABLED: 'true' };

/** The template that a deployment of the stage would bring to AWS. @throws Error with what osls says where it refuses */
export async function packageStage(stage: string, parameters: Readonly<Record<string, string>> = {}): Promise<Template> {
  const words = Object.entries(parameters).map(([name, value]) => `--param=${name}=${value}`);
  // One each: at its end osls clears the folder in which another one is at work.
  const service = createService();
  try {
    const result = await service.osls(['package', '--stage', stage, ...words], NO_AWS);
    if (result.code !== 0) throw new Error(`osls package --stage ${stage} ended with ${result.code}:\n${result.stdout}${result.stderr}`);
    return JSON.parse(readFileSync(join(service.dir, '.serverless/cloudformation-template-update-stack.json'), 'utf8')) as Template;
  } finally {
    service.remove();
  }
}
