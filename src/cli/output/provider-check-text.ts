/** The check of an auth provider as text: its callback address, and whether the control plane reaches its issuer. */
import { printable } from '#base/terminal';
import type { ProviderCheckAnswer, ProviderDraftCheckAnswer } from '#contract/schemas';

/** `name` is the argument for the command that repeats the check; undefined for a draft. */
export function providerCheckText(
  check: ProviderCheckAnswer | ProviderDraftCheckAnswer,
  name: string | undefined,
): string {
  const { discovery, problem } = check;
  const callbackUrls = 'callbackUrls' in check ? check.callbackUrls : [];
  const several = callbackUrls.length > 1;
  const parts: string[] = [];
  if (callbackUrls.length > 0) {
    const what = several ? 'these callback addresses' : 'this callback address';
    parts.push(
      `Register ${what} at the identity provider:\n${callbackUrls.map((url) => `  ${printable(url)}\n`).join('')}`,
    );
  }
  if (discovery === 'ok') parts.push('The issuer responds, and publishes the metadata that sign-ins need.\n');
  if (discovery === 'failed') {
    parts.push(
      `The control plane cannot use the issuer: ${printable(problem ?? 'it does not respond')}.\n` +
        'Nobody can sign in until this is fixed. Compare the issuer with the one in its own metadata; for a private network,\n' +
        'start the control plane with --allow-egress.\n',
    );
    if (name !== undefined) parts.push(`Try again with: frontdoor auth-providers check ${printable(name)}\n`);
  }
  if (discovery === 'none' && name === undefined)
    parts.push('This type publishes no metadata: there is nothing to check before it is created.\n');
  else if (discovery === 'none' && callbackUrls.length === 0)
    parts.push('This type needs no identity provider: there is nothing to register or to reach.\n');
  return parts.join('');
}
