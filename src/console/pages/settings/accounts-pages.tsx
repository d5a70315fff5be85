/** API accounts. */
import type { ReactNode } from 'react';
import { useParam } from '../../frame/frontdoor.tsx';
import { ACCOUNTS } from './credential-kind.ts';
import { CredentialList } from './credential-list.tsx';
import { CredentialPage } from './credential-page.tsx';

export function AccountsPage(): ReactNode {
  return <CredentialList kind={ACCOUNTS} />;
}

export function AccountPage(): ReactNode {
  return <CredentialPage kind={ACCOUNTS} id={useParam('accountId')} />;
}
