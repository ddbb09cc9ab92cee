import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openTerminal, type ScreenLine, screenLines, textOf } from '../../../../../../infra/local/dev/demo/recording/screen-lines.ts';

async function shown(written: string, columns = 40, rows = 5): Promise<ScreenLine[]> {
  const terminal = openTerminal({ columns, rows });
  await new Promise<void>((done) => terminal.write(written, done));
  const lines = screenLines(terminal);
  terminal.dispose();
  return lines;
}

const plain = { isBold: false, isDim: false };

describe('the lines of a screen', () => {
  it('are what stands there, to the last that has something on it', async () => {
    const lines = await shown('gone\u001b[H\u001b[Jone\r\n\r\ntwo\u001b[1Gtwe\r\n   ');
    assert.deepEqual(lines.map(textOf), ['one', '', 'twe']);
  });

  it('are none where nothing stands there', async () => {
    assert.deepEqual(await shown(''), []);
  });

  it('have a span for each look, and for each column of a table', async () => {
    assert.deepEqual(await shown('\u001b[1m3/8 change:\u001b[22m its spec  \u001b[2mOLD\u001b[22m\u001b[31m2s\u001b[39m'), [
      [
        { column: 0, text: '3/8 change:', isBold: true, isDim: false },
        { column: 12, text: 'its spec', ...plain },
        { column: 22, text: 'OLD', isBold: false, isDim: true },
        { column: 25, text: '2s', color: 'red', ...plain },
      ],
    ]);
  });

  it('have a character of two columns once, and what follows it where it stands', async () => {
    const [line = []] = await shown('日本  \u001b[32mok');
    assert.deepEqual(
      line.map(({ column, text }) => [column, text]),
      [
        [0, '日本'],
        [6, 'ok'],
      ],
    );
  });

  it('are those that are left where more was written', async () => {
    const lines = await shown(['1', '2', '3', '4', '5', '6'].join('\r\n'), 10, 4);
    assert.deepEqual(lines.map(textOf), ['3', '4', '5', '6']);
  });
});
