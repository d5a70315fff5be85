/**
 * Colours and defaults of the widgets, by the design of ADR 0110. Every pair of text and ground has a contrast of 4.5 or more
 * (WCAG 2.2 AA). Sizes that only the styles of the console use are at the head of console.css.
 */
import { createTheme, type CSSVariablesResolver, type MantineThemeOverride } from '@mantine/core';

export const theme: MantineThemeOverride = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, Menlo, Consolas, monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.25rem' }, h2: { fontSize: '1rem' }, h3: { fontSize: '0.875rem' } },
  },
});

const light = {
  '--mantine-color-dimmed': '#566069',
  '--mantine-color-placeholder': '#6b747d',
  '--mantine-color-error': '#b3261e',
  '--mantine-color-anchor': '#0b57b0',
  '--fd-good': '#0d6b3c',
  '--fd-warn': '#8a4b00',
  '--fd-bad': '#a8201a',
  '--fd-soft': '#566069',
  '--fd-panel': '#ffffff',
  '--fd-page': '#f5f7f9',
  '--fd-line': '#d5dbe1',
  '--fd-hover': '#eef3f9',
  '--fd-chosen': '#e2edfa',
  '--fd-good-ground': '#e4f3ea',
  '--fd-warn-ground': '#fdf1e0',
  '--fd-bad-ground': '#fdeae8',
  '--fd-soft-ground': '#edf0f3',
};

const dark: typeof light = {
  '--mantine-color-dimmed': '#a6afbb',
  '--mantine-color-placeholder': '#98a1ad',
  '--mantine-color-error': '#ff9c94',
  '--mantine-color-anchor': '#8abfff',
  '--fd-good': '#6fdca0',
  '--fd-warn': '#ffc46b',
  '--fd-bad': '#ff9c94',
  '--fd-soft': '#a6afbb',
  '--fd-panel': '#1c2128',
  '--fd-page': '#14171c',
  '--fd-line': '#3a424c',
  '--fd-hover': '#242b34',
  '--fd-chosen': '#1d3350',
  '--fd-good-ground': '#15301f',
  '--fd-warn-ground': '#35270f',
  '--fd-bad-ground': '#3a1c1a',
  '--fd-soft-ground': '#262d36',
};

export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light, dark });
