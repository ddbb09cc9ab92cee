/** `dogwatch replay status`: how many letters there are and whose they are, without receiving any. */
import type { Environment } from '../../core/config.ts';
import { queueNameOf } from '../../core/settings.ts';
import type { ExitCode } from '../main.ts';
import { atDesk, type DeskOptions } from './desk.ts';
import { plural } from './text.ts';

export async function replayStatus(env: Environment, options: DeskOptions): Promise<ExitCode> {
  return atDesk(env, options, async ({ description, json, print }): Promise<ExitCode> => {
    const { url, arn, retentionSeconds, depth, sourceUrls } = description;
    if (json) {
      print(JSON.stringify({ version: 1, queue: { url, arn, retentionSeconds, depth, sources: sourceUrls ?? null } }));
      return 0;
    }
    const sources = sourceUrls?.map(queueNameOf).join(', ') || (sourceUrls === undefined ? 'not told to us' : 'no queue');
    print(`${queueNameOf(url)}: about ${plural(depth.visible, 'letter')}, ${depth.hidden} hidden, ${depth.delayed} delayed`);
    const kept = retentionSeconds === undefined ? 'it does not say how long' : plural(Math.round(retentionSeconds / 864) / 100, 'day');
    print(`kept after the first send of a letter: ${kept}; letters come from ${sources}`);
    return 0;
  });
}
