/** Unpacks a deployment package as Lambda does. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { unzipSync } from 'fflate';
import { ConfigError } from '../../../functions/core/errors.ts';

/**
 * Writes the files of a zip below `into`, which exists.
 *
 * @throws ConfigError `bad-package` when it cannot be read, is no zip, or holds a name that leaves the folder
 */
export function unpackZip(file: string, into: string): void {
  const root = resolve(into) + sep;
  for (const [name, bytes] of Object.entries(readZip(file))) {
    const path = resolve(root, name);
    if (!path.startsWith(root)) {
      throw new ConfigError('bad-package', `${file}: ${name} would be written outside the package's folder; build it again`, {
        facts: { file, name },
      });
    }
    if (name.endsWith('/')) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
}

function readZip(file: string): Record<string, Uint8Array> {
  try {
    return unzipSync(readFileSync(file));
  } catch (cause) {
    throw new ConfigError('bad-package', `${file} is not a zip that can be read; build it again`, { cause, facts: { file } });
  }
}
