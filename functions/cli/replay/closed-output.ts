/** A reader of our output that goes away in the middle (`dogwatch replay ls | head`): letters are given back before the process ends. */

export interface ClosedOutput {
  /** True once a reader is gone. */
  readonly isClosed: boolean;
  /** Ends the process as for everybody else, from then on. */
  dispose(): void;
}

/** Until it is disposed, calls `onClosed` in place of what else an output that fails brings about. */
export function watchOutput(onClosed: () => void): ClosedOutput {
  let isClosed = false;
  const onError = (): void => {
    if (isClosed) return;
    isClosed = true;
    onClosed();
  };
  const streams = [process.stdout, process.stderr].map((stream) => {
    const before = stream.listeners('error') as ((error: Error) => void)[];
    stream.removeAllListeners('error');
    stream.on('error', onError);
    return { stream, before };
  });
  return {
    get isClosed() {
      return isClosed;
    },
    dispose() {
      for (const { stream, before } of streams) {
        stream.off('error', onError);
        for (const listener of before) stream.on('error', listener);
      }
    },
  };
}
