import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/fast-check.ts';
import { readAnswerHead } from '../answers/answer-head.ts';
import { HeadBuffer } from './head-buffer.ts';
import { normalisedHead } from './lenient-head.ts';
import { readResponseHead, ResponseHead } from './response-head-policy.ts';

const MAX_BYTES = 4_096;
const MAX_FIELDS = 20;

/** Pieces of heads, well-formed and not, that are put together at random. */
const PIECES = [
  ...['HTTP/1.1 200 OK', 'HTTP/1.0 200', 'HTTP/1.1 101 Switching Protocols', 'HTTP/1.1 204 x'],
  ...[
    'Content-Length: 2',
    'content-length : 2',
    'Content-Length: 3',
    'Content-Length: 2, 2',
    'Content-Length:',
  ],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding : chunked', 'Transfer-Encoding:', 'Connection: close'],
  ...[' chunked', '\tx', ' ', 'X: y', 'X : y', 'X Y: z', ': z', '\0', '\r', '\n', '\r\n', '\r\n', '\r\n'],
];

const head = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 24 })
  .map((pieces) => `HTTP/1.1 200 OK\r\n${pieces.join('')}\r\n\r\n`);

/** Pushes the text in pieces, and returns the buffer once it has a head or a refusal. */
function pushed(text: string, sizes: readonly number[], isLenient: boolean): HeadBuffer | undefined {
  const heads = new HeadBuffer(MAX_BYTES, MAX_BYTES, { isLenient });
  const bytes = Buffer.from(text, 'latin1');
  let at = 0;
  for (let i = 0; at < bytes.length; i += 1) {
    const size = sizes.length === 0 ? bytes.length : sizes[i % sizes.length]!;
    if (heads.push(bytes.subarray(at, at + size))) return heads;
    at += size;
  }
  return undefined;
}

function framingOf({ status, contentLength, chunked }: ResponseHead): unknown {
  return { status, contentLength, chunked };
}

describe('a lenient reader of responses', () => {
  it('accepts nothing with two framings, and forwards only lines of the present form', () => {
    const answer = new ResponseHead();
    fc.assert(
      fc.property(head, (text) => {
        const heads = pushed(text, [], true);
        if (heads === undefined || readAnswerHead(heads, MAX_FIELDS, answer) !== undefined) return;
        const read = answer.fields.text;
        // oxlint-disable-next-line no-control-regex
        assert.doesNotMatch(read.replaceAll('\r\n', ''), /[\0-\x08\x0a-\x1f\x7f]/);
        assert.doesNotMatch(read, /\n[ \t]|^[^:\r]*[ \t]:/m);
        const lengths = read.match(/^content-length:/gim)?.length ?? 0;
        const codings = read.match(/^transfer-encoding:/gim)?.length ?? 0;
        assert.ok(lengths + codings <= 1, read);
      }),
      { numRuns: 3_000 },
    );
  });

  it('reads a head of the present form as the strict one does, and uses its circuit again', () => {
    const [strict, lenient] = [new ResponseHead(), new ResponseHead()];
    fc.assert(
      fc.property(head, (text) => {
        const plain = pushed(text, [], false);
        if (plain === undefined || plain.refusal !== undefined) return;
        if (readResponseHead(plain.text, MAX_FIELDS, strict) !== undefined) return;
        const heads = pushed(text, [], true)!;
        assert.equal(readAnswerHead(heads, MAX_FIELDS, lenient), undefined);
        assert.deepEqual(framingOf(lenient), framingOf(strict));
        assert.equal(lenient.keepAlive, strict.keepAlive);
        assert.equal(heads.hadObsolete, false);
      }),
      { numRuns: 3_000 },
    );
  });

  it('finds the same head in any cuts', () => {
    fc.assert(
      fc.property(
        head,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        (text, sizes) => {
          const [whole, cut] = [pushed(text, [], true), pushed(text, sizes, true)];
          assert.equal(cut?.text, whole?.text);
          assert.equal(cut?.refusal, whole?.refusal);
        },
      ),
    );
  });

  it('changes a head once: what it wrote, it leaves as it is', () => {
    fc.assert(
      fc.property(head, (text) => {
        const heads = pushed(text, [], true);
        if (heads === undefined || heads.refusal !== undefined) return;
        const answer = new ResponseHead();
        const once = normalisedHead(heads.text);
        if (readResponseHead(once, MAX_FIELDS, answer) === undefined)
          assert.equal(normalisedHead(once), once);
      }),
    );
  });
});
