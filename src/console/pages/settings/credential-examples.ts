/** The lines with which programs use a new API account or OAuth client. They have its secret, and are kept nowhere. */
import type { CredentialKind, ShownSecret } from './credential-kind.ts';

export interface UseExample {
  readonly name: 'curl' | 'commandLine' | 'javaScript';
  readonly code: string;
}

/** `baseUrl` is the address of the Management API, without a slash at the end. */
export function examplesOf(
  path: CredentialKind['path'],
  shown: ShownSecret,
  baseUrl: string,
): readonly UseExample[] {
  return path === 'accounts' ? accountExamples(shown, baseUrl) : clientExamples(shown, baseUrl);
}

function accountExamples({ id, secret }: ShownSecret, baseUrl: string): readonly UseExample[] {
  return [
    { name: 'curl', code: `curl -H 'Authorization: Basic ${id}:${secret}' '${baseUrl}/caller'` },
    {
      name: 'commandLine',
      code: [
        `export FRONTDOOR_API_URL='${baseUrl}'`,
        `export FRONTDOOR_ACCOUNT_ID='${id}'`,
        `export FRONTDOOR_API_TOKEN='${secret}'`,
        'frontdoor shares list',
      ].join('\n'),
    },
    {
      name: 'javaScript',
      code: [
        `const headers = { authorization: 'Basic ${id}:${secret}' };`,
        `const response = await fetch('${baseUrl}/caller', { headers });`,
        'console.log(await response.json());',
      ].join('\n'),
    },
  ];
}

function clientExamples({ id, secret }: ShownSecret, baseUrl: string): readonly UseExample[] {
  const asked = JSON.stringify({
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: secret,
    audience: `${baseUrl}/frontdoor`,
  });
  const json = 'Content-Type: application/json';
  return [
    { name: 'curl', code: `curl -X POST -H '${json}' -d '${asked}' '${baseUrl}/oauth/token'` },
    {
      name: 'commandLine',
      code: [
        `export FRONTDOOR_API_URL='${baseUrl}'`,
        `export FRONTDOOR_CLIENT_ID='${id}'`,
        `export FRONTDOOR_CLIENT_SECRET='${secret}'`,
        'frontdoor shares list',
      ].join('\n'),
    },
    {
      name: 'javaScript',
      code: [
        `const asked = await fetch('${baseUrl}/oauth/token', {`,
        "  method: 'POST',",
        "  headers: { 'content-type': 'application/json' },",
        `  body: JSON.stringify(${asked}),`,
        '});',
        'const { access_token } = await asked.json();',
        'const headers = { authorization: `Bearer ${access_token}` };',
        `const response = await fetch('${baseUrl}/caller', { headers });`,
        'console.log(await response.json());',
      ].join('\n'),
    },
  ];
}
