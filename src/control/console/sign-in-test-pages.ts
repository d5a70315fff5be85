/** The pages of a test sign-in: what the provider sent, what the rules decide about it, or what failed and what to do. */
import { ACCESS_REASONS } from '#domain/access';
import { html, nothing, withCode, type Html } from '../html/mod.ts';
import type { ProvenPerson, SignInTestResult } from '../shares/logins/mod.ts';
import type { ConsolePage } from './page-document.ts';
import type { PageText } from './english-page-text.ts';
import type { TestedRole } from './sign-in-test.ts';

type Outcome = SignInTestResult['outcome'];
type Admitted = Extract<Outcome, { readonly person: ProvenPerson }>;

/** Leads on to the result from a page of the console itself, which sends the cookie of the session along. */
export function backPage(to: string): ConsolePage {
  const content = (text: PageText) => html`<p><a href="${to}">${text.showResult}</a></p>`;
  return { status: 200, title: ({ testSignIn }) => testSignIn, content, leadsTo: to };
}

export function testResultPage(result: SignInTestResult, role: TestedRole): ConsolePage {
  const { provider, redirectUri, outcome } = result;
  const isDone = 'person' in outcome;
  const content = (text: PageText) =>
    html`<p>${provider.name}</p>
      ${isDone ? admitted(text, outcome, role) : refused(text, outcome, redirectUri)}
      <p class="soft">${text.testStoresNothing}</p>`;
  return {
    status: 200,
    title: ({ testWorks, testFailed }) => (isDone ? testWorks : testFailed),
    content,
  };
}

function refused(text: PageText, { reason, detail }: Exclude<Outcome, Admitted>, redirectUri: string): Html {
  // What the provider answered is in its own language.
  return html`${detail === '' ? nothing : html`<p class="wrong" role="alert" lang="en">${detail}</p>`}
    <p>${withCode(text.testRemedies[reason])}</p>
    <p>${text.testRedirectUrl} <code>${redirectUri}</code></p>`;
}

function admitted(text: PageText, { person, shares }: Admitted, role: TestedRole): Html {
  const { email, groups } = person;
  return html`<h2>${text.person}</h2>
    <dl>
      <dt>${text.subject}</dt>
      <dd><code>${person.subject}</code></dd>
      <dt>${text.verifiedEmail}</dt>
      <dd>${email ?? text.noVerifiedEmail}</dd>
      <dt>${text.name}</dt>
      <dd>${person.name ?? text.none}</dd>
      <dt>${text.groups}</dt>
      <dd>${groups.length === 0 ? text.noGroups : groups.join(', ')}</dd>
    </dl>
    <h2>${text.decisions}</h2>
    ${decisions(text, shares, role)}
    <h2>${text.claims}</h2>
    <dl>
      ${Object.entries(person.claims).map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd><code>${typeof value === 'string' ? value : JSON.stringify(value)}</code></dd>`,
      )}
    </dl>`;
}

function decisions(text: PageText, shares: Admitted['shares'], role: TestedRole): Html {
  if (shares.length === 0 && role === undefined) return html`<p>${text.noUses}</p>`;
  const ofConsole =
    role === undefined
      ? nothing
      : html`<li>${text.consoleDecision(role === null ? undefined : text.roles[role])}</li>`;
  return html`<ul>
    ${ofConsole}
    ${shares.map(({ token, refusal }) =>
      refusal === undefined
        ? html`<li>${text.shareAllowed(token)}</li>`
        : html`<li>${text.shareRefused(token)} <span lang="en">${ACCESS_REASONS[refusal].cause}</span></li>`,
    )}
  </ul>`;
}
