/** OAuth clients. */
import type { ReactNode } from 'react';
import { useParam } from '../../frame/frontdoor.tsx';
import { CLIENTS } from './credential-kind.ts';
import { CredentialList } from './credential-list.tsx';
import { CredentialPage } from './credential-page.tsx';

export function ClientsPage(): ReactNode {
  return <CredentialList kind={CLIENTS} />;
}

export function ClientPage(): ReactNode {
  return <CredentialPage kind={CLIENTS} id={useParam('clientId')} />;
}
