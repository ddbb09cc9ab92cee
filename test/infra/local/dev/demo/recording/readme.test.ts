import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recordedLines, withRecording } from '../../../../../../infra/local/dev/demo/recording/readme.ts';

const around = (...lines: readonly string[]): string =>
  ['# a', '<!-- recorded by infra/local/dev/demo/record.ts -->', '```', ...lines, '```', '<!-- end of the recording -->', '```', 'b'].join(
    '\n',
  );

describe('the place of the recording in README', () => {
  it('is filled, and nothing else is changed', () => {
    assert.equal(withRecording(around('old', 'lines'), ['costs $1', '$&']), around('costs $1', '$&'));
  });

  it('is read as it is written', () => {
    assert.deepEqual(recordedLines(withRecording(around('old'), ['STEP  SECONDS', 'create  0.4'])), ['STEP  SECONDS', 'create  0.4']);
  });

  it('is missed where it is gone', () => {
    assert.throws(() => withRecording('# a\n', ['x']), { name: 'ConfigError', code: 'no-place' });
  });
});
