/** The command that makes the first thing of a list, or shows what the list is for, with the address of this installation. Pure. */

export type FirstCommand = 'agent' | 'share' | 'provider' | 'policy' | 'domain' | 'why';

/** `apiUrl`: the address of the Management API. */
export function firstCommand(kind: FirstCommand, apiUrl: string): string {
  const api = `--api ${shellWord(apiUrl)}`;
  switch (kind) {
    case 'agent':
      return `frontdoor agents enroll ${api} --name laptop`;
    case 'share':
      // The agent on the machine knows the installation.
      return 'frontdoor agent share public http://127.0.0.1:3000 --name app';
    case 'provider':
      return `frontdoor auth-providers create ${api} --name scripts --type API_KEY \\
  --data '{"placement":"header","name":"X-Api-Key","keys":[{"name":"ci"}]}'`;
    case 'policy':
      return `frontdoor policies create ${api} --name office --ip-allow 192.0.2.0/24`;
    case 'domain':
      return `frontdoor custom-frontends create ${api} --hostname apps.example.com --frontend-id public`;
    case 'why':
      return `frontdoor why ERROR_ID ${api}`;
  }
}

/** A word that a POSIX shell takes as it is. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
