/** Builds the code of a run, at the start and after each change of a file of it. */
import { dirname, join, relative, resolve } from 'node:path';
import { onCodeChange } from './code-changes.ts';
import { type CodeLoop, type CodeLoopOptions, createCodeLoop } from './code-loop.ts';

export interface CodeFollowerOptions extends CodeLoopOptions {
  /** The code stays what it is at the start, whatever is saved. */
  readonly isFixed: boolean;
}

const ROOT = resolve(import.meta.dirname, '../../..');

/** Begins with the first build. */
export function followCode({ isFixed, ...options }: CodeFollowerOptions): Pick<CodeLoop, 'stop'> {
  const { reconcilers, emit } = options;
  const loop = createCodeLoop(options);
  const folders = {
    trees: [join(ROOT, 'functions'), join(ROOT, 'events')],
    folders: reconcilers === undefined ? [] : [dirname(reconcilers)],
  };
  const onChange = (file: string): void => {
    const near = relative(process.cwd(), file);
    emit({ kind: 'step', text: `${near.startsWith('..') ? file : near} changed` });
    loop.build();
  };
  const onUnwatched = (folder: string, reason: string): void => {
    const mend = reason === 'ENOSPC' ? ', and raise fs.inotify.max_user_watches' : '';
    emit({ kind: 'notice', level: 'warn', text: `changes in ${folder} are not noticed (${reason}): start again after one${mend}` });
  };
  const endWatching = isFixed ? () => undefined : onCodeChange(folders, onChange, onUnwatched);
  loop.build();
  return {
    stop() {
      endWatching();
      return loop.stop();
    },
  };
}
