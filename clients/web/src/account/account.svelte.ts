/** The account of the person of this browser: what is kept of it, and all that can be done with it. */
import { base64url, ServiceError, type Account, type Document, type SignedIn } from "towerhall-client";

import { session } from "../app/session.svelte";
import { toast } from "../ui/toasts.svelte";
import { explainPasskey, makePasskey, usePasskey } from "./passkeys";
import { accountText } from "./speak";

const NO_ACCOUNT: Account = { passkeys: [], devices: [] };
const NONCE_BYTES = 16;

export class AccountState {
  shown = $state.raw<Account | null>(null);
  problem = $state("");
  busy = $state(false);
  /** A recovery code that the person has to save now. */
  code = $state("");
  /** Who has signed in, while the person who is here has not said yes. */
  asked = $state.raw<SignedIn | null>(null);
  /** Of the recovery under way: a code whose answer was lost is sent again with the same nonce. */
  #nonce = { code: "", nonce: "" };

  /** Do one thing. While it goes on no other begins, and what goes wrong is told in words. */
  async try(what: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.problem = "";
    try {
      await what();
    } catch (error) {
      this.problem = explainPasskey(error);
    } finally {
      this.busy = false;
    }
  }

  /** Look anew, whatever else is under way. */
  async refresh(): Promise<void> {
    try {
      await this.look();
    } catch (error) {
      this.problem = explainPasskey(error);
    }
  }

  async look(): Promise<void> {
    this.shown = session.guest ? await session.ask((token) => session.service.account(token)) : NO_ACCOUNT;
  }

  async addPasskey(): Promise<void> {
    const added = await this.#secured(async () => {
      const options = await session.ask((token) => session.service.passkeyOptions(token));
      return session.service.addPasskey(this.#token, await makePasskey(options));
    });
    session.take(added);
    this.code = added.recovery_code ?? "";
    // Tokens from before the account belong to no device, so none of them could be logged out alone.
    if (this.code) await session.service.revoke(added.token, { others: true });
    else toast(accountText("account.passkey.added"));
    await this.look();
  }

  async removePasskey(passkey: string): Promise<void> {
    this.shown = await this.#secured(() => session.service.removePasskey(this.#token, passkey));
  }

  async newCode(): Promise<void> {
    this.code = await this.#secured(() => session.service.newRecoveryCode(this.#token));
    await this.look();
  }

  async signIn(): Promise<void> {
    this.#arrive(await session.service.signIn(await this.#signed("")));
  }

  async recover(code: string): Promise<void> {
    if (this.#nonce.code !== code) this.#nonce = { code, nonce: base64url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES))) };
    const entered = await session.service.recover(code, this.#nonce.nonce);
    this.code = entered.recovery_code ?? "";
    this.#arrive(entered);
  }

  /** Become the person who has signed in. */
  become(entered: SignedIn): void {
    this.asked = null;
    session.replace(entered);
    toast(accountText("account.welcome", { name: entered.name }));
  }

  /** Stay who one is: the device that has signed in is logged out again. A new recovery code is still theirs to save. */
  async stay(entered: SignedIn): Promise<void> {
    this.asked = null;
    await session.service.logOut(entered.token, entered.device);
  }

  async logOut(device: string, name: string): Promise<void> {
    this.shown = await session.ask((token) => session.service.logOut(token, device));
    toast(accountText("account.device.done", { name }));
  }

  /** Log out here, or everywhere. The page begins anew, without a guest. */
  async leave(device: string | null): Promise<void> {
    const token = this.#token;
    await (device === null ? session.service.revoke(token) : session.service.logOut(token, device));
    session.leave();
    location.hash = "#/";
    location.reload();
  }

  get #token(): string {
    return session.guest?.token ?? "";
  }

  #arrive(entered: SignedIn): void {
    session.recall();
    if (session.guest && session.guest.id !== entered.id) this.asked = entered;
    else this.become(entered);
  }

  /** What changes how one signs in needs a sign-in just before. Where it is too long ago, the person confirms by a passkey first. */
  async #secured<T>(change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "sign_in_first") throw error;
      session.take(await session.service.signIn(await this.#signed(this.#token), this.#token));
      return await change();
    }
  }

  async #signed(token: string): Promise<Document> {
    return usePasskey(await session.service.signInOptions(token));
  }
}
