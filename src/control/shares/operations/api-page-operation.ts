/** One operation on the browsable API page: a line that unfolds to parameters, fields, an example and errors. */
import type { OperationSheet } from '#contract';
import { html, nothing, withCode, type Html } from '../../html/mod.ts';

/** The id is inside the folded part, so that a link to it unfolds it. */
export function operationDetails(sheet: OperationSheet): Html {
  const { id, method, path, summary, url, scope, example } = sheet;
  const needs =
    scope === undefined ? html`Requires no credentials.` : html`Requires the scope <code>${scope}</code>.`;
  return html`<details class="operation">
    <summary>
      <h3>
        <span class="method ${method}">${method}</span> <code>${path}</code>
        <span class="what">${summary}</span>
      </h3>
    </summary>
    <div class="detail" id="${id}">
      <p>
        <code>${method} ${url}</code><br />${needs} <span class="soft">Operation <code>${id}</code>.</span>
      </p>
      ${parameters(sheet)} ${body(sheet)} ${answer(sheet)}
      <h4>Example</h4>
      <pre tabindex="0" aria-label="Example: ${summary}"><code>${example}</code></pre>
      ${refusals(sheet)}
    </div>
  </details> `;
}

function parameters(sheet: OperationSheet): Html {
  const rows = sheet.parameters.map(({ name, in: where, type, isRequired, note }) => [
    html`<code>${name}</code>`,
    html`${type}`,
    html`in the ${where}${isRequired ? '' : ', optional'}`,
    withCode(note),
  ]);
  return section('Parameters', ['Name', 'Type', 'Where', ''], rows, sheet);
}

function body(sheet: OperationSheet): Html {
  if (sheet.body === undefined) return nothing;
  const { mediaTypes, fields, ignored } = sheet.body;
  const rows = fields.map(({ path, type, isRequired, note }) => [
    html`<code>${path}</code>`,
    html`${type}`,
    html`${isRequired ? 'required' : 'optional'}`,
    withCode(note),
  ]);
  const names = ignored.map((name, index) => html`${index === 0 ? '' : ', '}<code>${name}</code>`);
  return html`${section(`Body: ${mediaTypes.join(' or ')}`, ['Field', 'Type', 'Given', ''], rows, sheet)}
  ${ignored.length === 0 ? nothing : html`<p class="soft">Read-only, accepted and ignored: ${names}</p>`}`;
}

function answer(sheet: OperationSheet): Html {
  const { status, fields, type, otherForms } = sheet.answer;
  const forms = otherForms.map(([mediaType, text]) => html`<p><code>${mediaType}</code>: ${text}</p> `);
  const whole = type === undefined ? (otherForms.length === 0 ? ', no body' : '') : `, JSON, ${type}`;
  const head = `Answer: ${status}${whole}`;
  const rows = fields.map(({ path, type: of, isRequired, note }) => [
    html`<code>${path}</code>`,
    html`${of}`,
    html`${isRequired ? '' : 'may be absent'}`,
    withCode(note),
  ]);
  const shape =
    rows.length === 0 ? html`<h4>${head}</h4>` : section(head, ['Field', 'Type', '', ''], rows, sheet);
  return html`${shape} ${forms}`;
}

function refusals(sheet: OperationSheet): Html {
  const rows = sheet.refusals.map(({ status, errors, when }) => [
    html`${status}`,
    html`<code>${errors.join(', ')}</code>`,
    withCode(when),
  ]);
  return section('Refusals', ['Status', 'error', 'When'], rows, sheet);
}

/** A table under a heading, or nothing without rows. */
function section(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly Html[])[],
  { summary }: OperationSheet,
): Html {
  if (rows.length === 0) return nothing;
  const used = columns.map((_column, index) => rows.some((row) => row[index]!.markup !== ''));
  const kept = <T>(cells: readonly T[]): readonly T[] => cells.filter((_cell, index) => used[index]);
  const head = kept(columns).map((column) =>
    column === '' ? html`<td></td>` : html`<th scope="col">${column}</th>`,
  );
  const body = rows.map((row) => {
    const [first = nothing, ...rest] = kept(row);
    return html`<tr>
      <th scope="row">${first}</th>
      ${rest.map((cell) => html`<td>${cell}</td>`)}
    </tr> `;
  });
  return html`<h4>${title}</h4>
    <div class="table" tabindex="0" role="region" aria-label="${title}: ${summary}">
      <table>
        <thead>
          <tr>
            ${head}
          </tr>
        </thead>
        <tbody>
          ${body}
        </tbody>
      </table>
    </div> `;
}
