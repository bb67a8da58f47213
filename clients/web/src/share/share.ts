/** Makes the picture of a position, and hands it over: to other programs where the browser can, else as a file. */
import { flushSync, mount, unmount, type ComponentProps } from "svelte";
import type { Document } from "towerhall-client";

import { loadSmall } from "../games/small";
import { gameWord } from "../lobby/options";
import { namesOf, roomOf } from "../room/view";
import { HEIGHT, SERIF, WIDTH, type Measure } from "./fit";
import SharePicture from "./SharePicture.svelte";

const KEPT_MS = 10_000;

/** The picture of the last position of a game that has a result. */
export async function pictureOf(view: Document): Promise<Blob> {
  const room = roomOf(view);
  if (!room?.result) throw new Error("this game has no result");
  const Small = await loadSmall(room.game);
  const canvas = Object.assign(document.createElement("canvas"), { width: WIDTH, height: HEIGHT });
  const pen = canvas.getContext("2d")!;
  const measure: Measure = (text, size) => {
    pen.font = `700 ${size}px ${SERIF}`;
    return pen.measureText(text).width;
  };
  const image = await drawn({ view, title: gameWord(room.game), names: namesOf(room), result: room.result, Small, measure });
  pen.drawImage(image, 0, 0, WIDTH, HEIGHT);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is empty"))), "image/png"));
}

async function drawn(props: ComponentProps<typeof SharePicture>): Promise<HTMLImageElement> {
  const holder = document.createElement("div");
  const component = mount(SharePicture, { target: holder, props });
  flushSync();
  const text = new XMLSerializer().serializeToString(holder.firstElementChild!);
  void unmount(component);
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = Object.assign(new Image(WIDTH, HEIGHT), { src: url });
    await image.decode();
    return image;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Give the picture to other programs, or to the person as a file. */
export async function handOver(picture: Blob, name: string, title: string): Promise<"shared" | "saved" | "cancelled"> {
  const file = new File([picture], name, { type: picture.type });
  if (navigator.canShare?.({ files: [file] })) {
    try {
      await navigator.share({ files: [file], title });
      return "shared";
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return "cancelled";
      // Not allowed here, or too long after the press: the person gets the file.
    }
  }
  const url = URL.createObjectURL(file);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
  return "saved";
}
