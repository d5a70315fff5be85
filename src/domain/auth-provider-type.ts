/** The types of auth providers. What the data of each must be stands with the control plane, which holds it. */
export const AUTH_PROVIDER_TYPES = ['OIDC', 'API_KEY', 'GOOGLE', 'GITHUB'] as const;

export type AuthProviderType = (typeof AUTH_PROVIDER_TYPES)[number];
