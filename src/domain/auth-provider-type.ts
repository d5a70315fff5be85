/** The types of auth providers. The control plane defines and checks the data of each. */
export const AUTH_PROVIDER_TYPES = ['OIDC', 'API_KEY', 'GOOGLE', 'GITHUB'] as const;

export type AuthProviderType = (typeof AUTH_PROVIDER_TYPES)[number];

/** Whether log-ins or tokens of the provider prove who a person is, with an e-mail address or claims. Keys do not. */
export function provesPeople(type: AuthProviderType): boolean {
  return type !== 'API_KEY';
}
