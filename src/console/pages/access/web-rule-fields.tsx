/** The fields of rules for browsers: HTTPS only, and pages of other origins. */
import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { SharePolicyAnswer } from '#contract/schemas';
import { FlagField } from '../../parts/flag-field.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { LinesField, TextField } from '../../parts/text-field.tsx';
import { useText } from '../../text/language.tsx';
import type { SectionProps } from './policy-fields.tsx';
import { webPolicyText } from './web-policy-text.ts';

type Redirect = SharePolicyAnswer['httpsRedirect'];
const REDIRECTS: readonly Redirect[] = ['auto', 'always', 'never'];

export function RedirectField({ draft: { httpsRedirect }, set }: SectionProps): ReactNode {
  const text = useText(webPolicyText);
  return (
    <NativeSelect
      label={text.redirect}
      description={text.redirectHelp}
      error={useFieldError('httpsRedirect')}
      value={httpsRedirect}
      onChange={({ currentTarget }) => set({ httpsRedirect: currentTarget.value as Redirect })}
      data={REDIRECTS.map((value) => ({ value, label: text.redirects(value) }))}
      mb="md"
    />
  );
}

export function HstsFields({ draft: { hsts }, set, isShared = false }: SectionProps): ReactNode {
  const text = useText(webPolicyText);
  return (
    <>
      <FlagField
        name="hsts"
        label={text.hsts}
        description={text.hstsHelp}
        value={hsts.isOn}
        onChange={(isOn) => set({ hsts: { ...hsts, isOn } })}
      />
      {hsts.isOn ? (
        <>
          <TextField
            name="hsts.maxAgeSeconds"
            label={text.hstsAge}
            description={text.hstsAgeHelp}
            inputMode="numeric"
            value={hsts.maxAgeSeconds}
            onChange={(maxAgeSeconds) => set({ hsts: { ...hsts, maxAgeSeconds } })}
          />
          {isShared ? null : (
            <>
              <FlagField
                name="hsts.includeSubdomains"
                label={text.subdomains}
                description={text.subdomainsHelp}
                value={hsts.includeSubdomains}
                onChange={(includeSubdomains) => set({ hsts: { ...hsts, includeSubdomains } })}
              />
              <FlagField
                name="hsts.preload"
                label={text.preload}
                description={text.preloadHelp}
                value={hsts.preload}
                onChange={(preload) => set({ hsts: { ...hsts, preload } })}
              />
            </>
          )}
        </>
      ) : null}
    </>
  );
}

export function CorsFields({ draft: { cors }, set }: SectionProps): ReactNode {
  const text = useText(webPolicyText);
  const change = (changes: Partial<typeof cors>) => set({ cors: { ...cors, ...changes } });
  return (
    <>
      <LinesField
        name="cors.origins"
        label={text.corsOrigins}
        description={text.corsOriginsHelp}
        value={cors.origins}
        onChange={(origins) => change({ origins })}
      />
      {cors.origins.trim() === '' ? null : (
        <>
          <LinesField
            name="cors.methods"
            label={text.corsMethods}
            description={text.corsMethodsHelp}
            value={cors.methods}
            onChange={(methods) => change({ methods })}
          />
          <LinesField
            name="cors.headers"
            label={text.corsHeaders}
            description={text.corsHeadersHelp}
            value={cors.headers}
            onChange={(headers) => change({ headers })}
          />
          <LinesField
            name="cors.exposedHeaders"
            label={text.corsExposed}
            description={text.corsExposedHelp}
            value={cors.exposedHeaders}
            onChange={(exposedHeaders) => change({ exposedHeaders })}
          />
          <FlagField
            name="cors.credentials"
            label={text.corsCredentials}
            description={text.corsCredentialsHelp}
            value={cors.credentials}
            onChange={(credentials) => change({ credentials })}
          />
          <TextField
            name="cors.maxAgeSeconds"
            label={text.corsAge}
            description={text.corsAgeHelp}
            inputMode="numeric"
            value={cors.maxAgeSeconds}
            onChange={(maxAgeSeconds) => change({ maxAgeSeconds })}
          />
        </>
      )}
    </>
  );
}
