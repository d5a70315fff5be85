/**
 * The API description as one page for people, generated from the operation table without external resources. It
 * has no script; its policy permits only its own style, by digest.
 */
import { createHash } from 'node:crypto';
import {
  conventions,
  sheetsByGroup,
  type OpenApiAddresses,
  type OperationGroup,
  type OperationSheet,
} from '#contract';
import { Html, html, withCode } from '../../html/mod.ts';
import { operationDetails } from './api-page-operation.ts';
import { API_PAGE_STYLE } from './api-page-style.ts';

/** Without surrounding space, because the digest covers the whole content. */
const styleElement = new Html(`<style>${API_PAGE_STYLE}</style>`);
const styleDigest = createHash('sha256').update(API_PAGE_STYLE).digest('base64');

/** Content-Security-Policy of the page. */
export const API_PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${styleDigest}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

type Groups = ReadonlyMap<OperationGroup, readonly OperationSheet[]>;

export function apiPage({ baseUrl, authUrl }: OpenApiAddresses): string {
  const groups = sheetsByGroup();
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Frontdoor Management API</title>
        ${styleElement}
      </head>
      <body>
        <a class="skip" href="#operations">Skip to the operations</a>
        <header>
          <h1>Frontdoor Management API</h1>
          <p class="soft">
            {base_url} is <code>${baseUrl}</code>, {auth_url} is <code>${authUrl}</code>. For programs:
            <a href="openapi.json">OpenAPI 3.1</a>.
          </p>
        </header>
        <div class="layout">
          ${contents(groups)}
          <main id="operations">
            <section aria-labelledby="every-operation">
              <h2 id="every-operation">For every operation</h2>
              ${credentials()}
              <ul>
                ${conventions.map((text) => html`<li>${withCode(text)}</li>`)}
              </ul>
            </section>
            ${[...groups].map(([group, sheets]) => groupSection(group, sheets))}
            <footer class="soft">Made from the table of operations that this server answers by.</footer>
          </main>
        </div>
      </body>
    </html> `;
  return page.markup;
}

function credentials(): Html {
  return html`<p>Show who you are in the Authorization header, by one of two forms:</p>
    <pre
      tabindex="0"
      aria-label="The two forms of the Authorization header"
    ><code>Authorization: Bearer &lt;ACCESS_TOKEN&gt;
Authorization: Basic &lt;ACCOUNT_ID&gt;:&lt;API_TOKEN&gt;</code></pre>
    <p>
      A bearer token comes from <a href="#issueToken">the token endpoint</a> for client credentials; an API
      account's token is used as it is. Each operation names the scope that it needs.
    </p>`;
}

function contents(groups: Groups): Html {
  const lists = [...groups].map(
    ([group, sheets]) =>
      html`<h2>${group}</h2>
        <ul>
          ${sheets.map(({ id, summary }) => html`<li><a href="#${id}">${summary}</a></li> `)}
        </ul> `,
  );
  return html`<nav aria-label="Operations">
    <details>
      <summary>Contents</summary>
      ${lists}
    </details>
  </nav>`;
}

function groupSection(group: OperationGroup, sheets: readonly OperationSheet[]): Html {
  const id = `group-${group.toLowerCase().replaceAll(' ', '-')}`;
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${group}</h2>
    ${sheets.map(operationDetails)}
  </section> `;
}
