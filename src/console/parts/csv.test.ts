import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { csvOf } from './csv.ts';

describe('rows as CSV', () => {
  it('have a column for each field of any row, and name nested fields with a dot', () => {
    const rows = [
      { name: 'app', access: { admits: 'some' } },
      { name: 'b', count: -3, isOn: true, none: null },
    ];
    assert.equal(csvOf(rows), 'name,access.admits,count,isOn,none\r\napp,some,,,\r\nb,,-3,true,\r\n');
  });

  it('are quoted where a comma, a quote, a line break or a space would be lost', () => {
    const texts = ['a,b', 'say "hi"', 'one\ntwo', ' led', 'plain'];
    const cells = texts.map((text) => csvOf([{ x: text }]).slice('x\r\n'.length, -2));
    assert.deepEqual(cells, ['"a,b"', '"say ""hi"""', '"one\ntwo"', '" led"', 'plain']);
  });

  it('are no formulas for a spreadsheet, neither as values nor as names of columns', () => {
    for (const start of ['=', '+', '-', '@', '\t', '\r', '\n']) {
      const [head, cell] = csvOf([{ [`${start}x`]: `${start}HYPERLINK("evil")` }]).split(
        /(?<=")\r\n|\r\n(?=")/,
      );
      for (const text of [head, cell]) assert.match(text!, /^"?'/, JSON.stringify(text));
    }
  });

  it('separate lists of texts by spaces, and write other lists as JSON', () => {
    const [, line] = csvOf([{ addresses: ['https://a', 'https://b'], rules: [{ role: 'reader' }] }]).split(
      '\r\n',
    );
    assert.equal(line, 'https://a https://b,"[{""role"":""reader""}]"');
  });
});
