/** Whether the page is as low as a phone that lies. The players stand in the head of the page then: their row would cost the table its room. */
import { MediaQuery } from "svelte/reactivity";

export const LIES = new MediaQuery("(max-height: 480px)");
