(* Two workers in turns, row by row: `turns.exe WITH_BLST WITH_CYCLOID [SECONDS]`. Each row takes
   about as many seconds. Prints both times, the fastest and the median, and blst's time divided by
   Cycloid's. *)

type worker = { answers : in_channel; requests : out_channel; names : string list }

let start program =
  let answers, requests = Unix.open_process program in
  let rec names read =
    match input_line answers with "" -> List.rev read | name -> names (name :: read)
  in
  { answers; requests; names = names [] }

let ask worker number runs =
  Printf.fprintf worker.requests "%d %d\n%!" number runs;
  input_line worker.answers

let time worker number runs = float_of_string (ask worker number runs) /. float_of_int runs

let median values =
  let values = Array.copy values in
  Array.sort compare values;
  values.(Array.length values / 2)

let () =
  let seconds = if Array.length Sys.argv > 3 then float_of_string Sys.argv.(3) else 1. in
  let workers = [| start Sys.argv.(1); start Sys.argv.(2) |] in
  let names = workers.(0).names in
  if workers.(1).names <> names then failwith "the workers have different rows";
  Printf.printf "%-42s %-29s   %s\n" "ns" "fastest" "median";
  Printf.printf "%-42s %11s %11s %5s   %11s %11s %5s\n" "" "blst" "Cycloid" "" "blst" "Cycloid" "";
  let measure number name =
    if ask workers.(0) number 0 <> ask workers.(1) number 0 then
      failwith (name ^ ": the results differ");
    (* A batch takes a millisecond or more: the clock counts microseconds. *)
    let rec runs count =
      let taken = time workers.(0) number count *. float_of_int count in
      if taken > 2e6 then (count, taken) else runs (count * 2)
    in
    let runs, taken = runs 1 in
    let rounds = max 5 (min 200 (int_of_float (seconds *. 1e9 /. taken /. 2.))) in
    let times = Array.map (fun _ -> Array.make rounds 0.) workers in
    for round = 0 to rounds - 1 do
      let first = round land 1 in
      List.iter
        (fun i -> times.(i).(round) <- time workers.(i) number runs)
        [ first; 1 - first ]
    done;
    let least = Array.map (Array.fold_left min infinity) times in
    let middle = Array.map median times in
    let ratio = median (Array.map2 ( /. ) times.(0) times.(1)) in
    Printf.printf "%-42s %11.0f %11.0f %5.2f   %11.0f %11.0f %5.2f\n%!" name least.(0) least.(1)
      (least.(0) /. least.(1))
      middle.(0) middle.(1) ratio
  in
  List.iteri measure names
