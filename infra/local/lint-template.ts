/**
 * Lints what osls makes of serverless.yml: `node infra/local/lint-template.ts [--stage STAGE] [other words of osls package]`. Asks nobody: no
 * account is needed. The template stays in .serverless.
 */
import { join, resolve } from 'node:path';
import { ConfigError } from '../../functions/core/errors.ts';
import { build } from '../build.ts';
import { exitWithOneLine } from './one-line.ts';
import { pythonTool } from './python/tools.ts';
import { type CommandResult, runCommand } from './run-command.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TEMPLATES = ['create', 'update'].map((name) => join(ROOT, `.serverless/cloudformation-template-${name}-stack.json`));
const TIMEOUT_SECONDS = 300;

/** @throws ConfigError with what osls or cfn-lint found on standard error */
async function lintTemplate(words: readonly string[]): Promise<void> {
  const { program, args, env } = await pythonTool('cfn-lint');
  await build({ quiet: true });
  const options = { cwd: ROOT, timeoutSeconds: TIMEOUT_SECONDS };
  const osls = join(ROOT, 'node_modules/osls/bin/serverless.js');
  refuse('osls package', await runCommand(process.execPath, [osls, 'package', ...words], options));
  refuse('cfn-lint', await runCommand(program, [...args, '--', ...TEMPLATES], { ...options, env: { ...process.env, ...env } }));
  console.log(`cfn-lint finds nothing in ${TEMPLATES.length} templates`);
}

/** Warnings too: cfn-lint's exit code is 0 only where it found nothing. */
function refuse(what: string, { code, signal, stdout, stderr }: CommandResult): void {
  if (code === 0) return;
  console.error(`${stdout}${stderr}`.trimEnd());
  throw new ConfigError('template-refused', `${what} refuses the template: see above`, { facts: { exitCode: code ?? String(signal) } });
}

await lintTemplate(process.argv.slice(2)).catch(exitWithOneLine);
