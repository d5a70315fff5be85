/** The pages of a test sign-in: what the provider sent, what the rules decide about it, or what failed and what to do. */
import type { LoginRefusalReason } from '#domain/gateway-shapes';
import { ACCESS_REASONS } from '#domain/access';
import { html, nothing, type Html } from '../html/mod.ts';
import type { ProvenPerson, SignInTestResult } from '../shares/logins/mod.ts';
import type { ConsolePage } from './console-pages.ts';
import type { TestedRole } from './sign-in-test.ts';

type Outcome = SignInTestResult['outcome'];
type Admitted = Extract<Outcome, { readonly person: ProvenPerson }>;

const REMEDIES: Readonly<Record<LoginRefusalReason, string>> = {
  denied:
    'The provider refused the sign-in. Check that this account is assigned to the application, and that the application may request its scopes.',
  'provider-failed':
    'Check the client ID, the client secret and the issuer, and that the control plane may reach the provider (--allow-egress for private networks).',
  'email-not-verified':
    'This type admits only accounts with a verified email address. Sign in with another account, or verify the address at the provider.',
  'attempt-not-valid': 'Start the test again.',
  'provider-not-available': 'The provider was deleted in the meantime.',
  'too-many': 'Too many people are signing in with this provider. Try again in a minute.',
};

/** Leads on to the result from a page of the console itself, which sends the cookie of the session along. */
export function backPage(to: string): ConsolePage {
  const content = html`<p><a href="${to}">Show the result</a></p>`;
  return { status: 200, title: 'Test sign-in', content, leadsTo: to };
}

export function testResultPage(result: SignInTestResult, role: TestedRole): ConsolePage {
  const { provider, redirectUri, outcome } = result;
  const isDone = 'person' in outcome;
  const content = html`<p>${provider.name}</p>
    ${isDone ? admitted(outcome, role) : refused(outcome, redirectUri)}
    <p class="soft">No session was started, and nothing was stored. You can close this window.</p>`;
  return { status: 200, title: isDone ? 'The sign-in works' : 'The sign-in failed', content };
}

function refused({ reason, detail }: Exclude<Outcome, Admitted>, redirectUri: string): Html {
  return html`${detail === '' ? nothing : html`<p class="wrong" role="alert">${detail}</p>`}
    <p>${REMEDIES[reason]}</p>
    <p>The redirect URL of this test, which the provider has to know: <code>${redirectUri}</code></p>`;
}

function admitted({ person, shares }: Admitted, role: TestedRole): Html {
  const { email, groups } = person;
  return html`<h2>Person</h2>
    <dl>
      <dt>Subject</dt>
      <dd><code>${person.subject}</code></dd>
      <dt>Verified email address</dt>
      <dd>${email ?? 'none: rules about email addresses refuse this person'}</dd>
      <dt>Name</dt>
      <dd>${person.name ?? 'none'}</dd>
      <dt>Groups</dt>
      <dd>${groups.length === 0 ? 'none: rules about groups refuse this person' : groups.join(', ')}</dd>
    </dl>
    <h2>What the rules decide</h2>
    ${decisions(shares, role)}
    <h2>Claims</h2>
    <dl>
      ${Object.entries(person.claims).map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd><code>${typeof value === 'string' ? value : JSON.stringify(value)}</code></dd>`,
      )}
    </dl>`;
}

function decisions(shares: Admitted['shares'], role: TestedRole): Html {
  if (shares.length === 0 && role === undefined)
    return html`<p>No share and no console sign-in uses this provider yet.</p>`;
  return html`<ul>
    ${
      role === undefined
        ? nothing
        : html`<li>
            Console: ${role === null ? 'no role, until an administrator gives one' : `the role ${role}`}
          </li>`
    }
    ${shares.map(
      ({ token, refusal }) =>
        html`<li>
          Share ${token}:
          ${refusal === undefined ? 'allowed' : `refused, because ${ACCESS_REASONS[refusal].cause}`}
        </li>`,
    )}
  </ul>`;
}
