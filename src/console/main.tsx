/** The entry of the browser program. */
import './styles.ts';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { fetchFilesWhenIdle } from './api/later-files.ts';
import { queryClient } from './api/queries.ts';
import { styleNonce } from './place.ts';
import { router } from './routes.tsx';
import { LanguageProvider } from './text/language.tsx';
import { cssVariables, theme } from './theme.ts';

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <LanguageProvider>
          <RouterProvider router={router} />
        </LanguageProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);

fetchFilesWhenIdle();
