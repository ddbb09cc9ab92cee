import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Frame } from '../../../../../../infra/local/dev/demo/recording/frames.ts';
import { pictureOf } from '../../../../../../infra/local/dev/demo/recording/picture.ts';
import type { Span } from '../../../../../../infra/local/dev/demo/recording/screen-lines.ts';

const span = (text: string, look: Partial<Span> = {}): Span => ({ column: 0, text, isBold: false, isDim: false, ...look });
const frame = (showMs: number, ...lines: readonly (readonly Span[])[]): Frame => ({ showMs, lines });
const options = { title: 'npm run dev', description: 'what it shows', columns: 100, rows: 30 };

describe('the picture of a film', () => {
  it('plays its frames one after the other, without end', () => {
    const picture = pictureOf([frame(1000, [span('a')]), frame(500, [span('b')]), frame(500, [span('c')])], options);
    assert.ok(picture.includes('animation:2s step-end infinite'));
    assert.ok(picture.includes('@keyframes k0{0%{visibility:visible}50%{visibility:hidden}}'));
    assert.ok(picture.includes('@keyframes k1{0%{visibility:hidden}50%{visibility:visible}75%{visibility:hidden}}'));
    assert.ok(picture.includes('@keyframes k2{0%{visibility:hidden}75%{visibility:visible}}'));
  });

  it('is the last frame where nothing moves', () => {
    const picture = pictureOf([frame(1000, [span('a')]), frame(500, [span('b')])], options);
    assert.match(picture, /^\.f\{visibility:hidden;.*\}#f1\{visibility:visible\}$/m);
    assert.ok(picture.includes('@media (prefers-reduced-motion:reduce){.f{animation:none}}'));
  });

  it('has a line once that several frames have, each where it stands', () => {
    const picture = pictureOf([frame(1000, [span('a')], [], [span('b')]), frame(1000, [span('b')])], options);
    assert.equal(picture.match(/>b<\/tspan>/g)?.length, 1);
    assert.ok(picture.includes('<g class="f" id="f0"><use href="#l0" y="0"/><use href="#l1" y="36"/></g>'));
    assert.ok(picture.includes('<g class="f" id="f1"><use href="#l1" y="0"/></g>'));
  });

  it('puts each span into its columns, in its look', () => {
    const picture = pictureOf([frame(1000, [span('ab', { column: 10, color: 'red', isBold: true }), span('日', { column: 20 })])], options);
    assert.ok(picture.includes('<tspan x="84" textLength="16.8" lengthAdjust="spacingAndGlyphs" class="red bold">ab</tspan>'), picture);
    assert.ok(picture.includes('<tspan x="168" textLength="16.8" lengthAdjust="spacingAndGlyphs">日</tspan>'), picture);
  });

  it('says what the terminal says, and no markup of it', () => {
    const picture = pictureOf([frame(1000, [span('<script> & "x"')])], { ...options, title: 'a < b', description: 'c & d' });
    assert.ok(picture.includes('&lt;script&gt; &amp; &quot;x&quot;</tspan>'));
    assert.ok(picture.includes('<title id="t">a &lt; b</title>') && picture.includes('<desc id="d">c &amp; d</desc>'));
    assert.ok(!picture.includes('<script'));
  });
});
