import type { Page } from "playwright-core";

/** Gives the page a device, with a user who agrees to everything, or, if told, to nothing. */
export async function plugIn(page: Page) {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      ...{ protocol: "ctap2", transport: "internal" },
      ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      automaticPresenceSimulation: true,
    },
  });
  return {
    agree: (isUserVerified: boolean) =>
      session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    count: async () =>
      (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials.length,
  };
}
