(** Adaptive runs of randomized response and of its Poisson samples: nothing is assumed of them. *)

From Coq Require Import Reals Lra Lia List ZArith Permutation.
From Symacct Require Import FiniteLaws Published.
Import ListNotations.
Open Scope R_scope.

(** * One run *)

(** A run that tells the truth with probability p, of a sample of rate γ: on one record more, on
    one less, and both with the two answers exchanged. *)
Definition response_of (kind : R * R) (d : pair bool) : Prop :=
  exists (truthful : 0 < fst kind < 1) (rate : 0 <= snd kind <= 1),
    let e := response (fst kind) truthful in
    d = sample (snd kind) rate e \/ d = swap (sample (snd kind) rate e)
    \/ d = sample (snd kind) rate (swap e) \/ d = swap (sample (snd kind) rate (swap e)).

(** The moments of the two directions: [sampled_response] of one record more, and this. *)
Definition removed_response (p gamma alpha : R) : R :=
  ((1 - gamma) * (1 - p) + gamma * p)
  * exp (alpha * ln ((1 - p) / ((1 - gamma) * (1 - p) + gamma * p)))
  + ((1 - gamma) * p + gamma * (1 - p))
  * exp (alpha * ln (p / ((1 - gamma) * p + gamma * (1 - p)))).

Definition response_below (alpha : R) (kind : R * R) (r : R) : Prop :=
  sampled_response (fst kind) (snd kind) alpha <= exp ((alpha - 1) * r)
  /\ removed_response (fst kind) (snd kind) alpha <= exp ((alpha - 1) * r).

Lemma response_bound alpha kind r d :
  1 < alpha -> response_below alpha kind r -> response_of kind d -> renyi d alpha <= r.
Proof.
  destruct kind as [p gamma]. unfold response_below, response_of. simpl.
  intros Ha [F B] (H & G & K). apply renyi_of_moment; [exact Ha|].
  assert (E1 : ((1 - gamma) * (1 - p) + gamma * p) / (1 - p) = 1 - gamma + gamma * (p / (1 - p)))
    by (field; lra).
  assert (E2 : ((1 - gamma) * p + gamma * (1 - p)) / p = 1 - gamma + gamma * ((1 - p) / p))
    by (field; lra).
  destruct K as [->|[->|[->| ->]]]; unfold moment; simpl; unfold Rpower;
    rewrite ?E1, ?E2, ?Rplus_0_r.
  - exact F.
  - exact B.
  - rewrite Rplus_comm. exact F.
  - rewrite Rplus_comm. exact B.
Qed.

(** The formulas that Published.v has for noise in general are those of this pair. *)
Theorem renyi_response p H alpha : renyi (response p H) alpha = responding p alpha.
Proof.
  unfold renyi, moment, responding. simpl. unfold Rpower. rewrite Rplus_0_r. reflexivity.
Qed.

Theorem moment_sampled_response p H gamma G alpha :
  moment (sample gamma G (response p H)) alpha = sampled_response p gamma alpha.
Proof.
  unfold moment, sampled_response. simpl. unfold Rpower. rewrite Rplus_0_r.
  f_equal; f_equal; f_equal; f_equal; f_equal; field; lra.
Qed.

(** * All runs *)

(** Runs are listed as how often, of which kind. *)
Definition kinds_of (runs : list (positive * (R * R))) : list (R * R) :=
  flat_map (fun x => repeat (snd x) (Pos.to_nat (fst x))) runs.

(** Each kind costs at most what the list says. *)
Definition response_costs (alpha : R) (runs : list (positive * (R * R))) (costs : list R) : Prop :=
  Forall2 (fun x r => response_below alpha (snd x) r) runs costs.

(** Σ n r *)
Fixpoint spent (runs : list (positive * (R * R))) (costs : list R) : R :=
  match runs, costs with
  | x :: more, r :: others => IZR (Zpos (fst x)) * r + spent more others
  | _, _ => 0
  end.

Lemma total_permutation {A} (f : A -> R) xs ys : Permutation xs ys -> total xs f = total ys f.
Proof.
  induction 1; simpl; [reflexivity | now rewrite IHPermutation | ring | congruence].
Qed.

Lemma total_repeat {A} (f : A -> R) x n : total (repeat x n) f = INR n * f x.
Proof.
  induction n as [|n IH]; [simpl; ring | rewrite S_INR; simpl; rewrite IH; ring].
Qed.

(** The least cost of a kind. *)
Definition least (alpha : R) (kind : R * R) : R :=
  ln (Rmax (sampled_response (fst kind) (snd kind) alpha)
           (removed_response (fst kind) (snd kind) alpha)) / (alpha - 1).

Lemma exp_ln_div alpha x : 1 < alpha -> 0 < x -> exp ((alpha - 1) * (ln x / (alpha - 1))) = x.
Proof.
  intros Ha Hx. replace ((alpha - 1) * (ln x / (alpha - 1))) with (ln x) by (field; lra).
  now apply exp_ln.
Qed.

Lemma least_below alpha kind :
  1 < alpha -> 0 < fst kind < 1 -> response_below alpha kind (least alpha kind).
Proof.
  intros Ha Hp.
  assert (P : 0 < sampled_response (fst kind) (snd kind) alpha).
  { unfold sampled_response. apply Rplus_lt_0_compat; apply Rmult_lt_0_compat;
      try apply exp_pos; lra. }
  unfold response_below, least. rewrite exp_ln_div; [|exact Ha|].
  - split; [apply Rmax_l | apply Rmax_r].
  - eapply Rlt_le_trans; [exact P | apply Rmax_l].
Qed.

Lemma least_is_least alpha kind r :
  1 < alpha -> 0 < fst kind < 1 -> response_below alpha kind r -> least alpha kind <= r.
Proof.
  intros Ha Hp [F B].
  assert (P : 0 < sampled_response (fst kind) (snd kind) alpha).
  { unfold sampled_response. apply Rplus_lt_0_compat; apply Rmult_lt_0_compat;
      try apply exp_pos; lra. }
  unfold least. apply (Rmult_le_reg_l (alpha - 1)); [lra|].
  replace ((alpha - 1) * (ln (Rmax (sampled_response (fst kind) (snd kind) alpha)
      (removed_response (fst kind) (snd kind) alpha)) / (alpha - 1)))
    with (ln (Rmax (sampled_response (fst kind) (snd kind) alpha)
      (removed_response (fst kind) (snd kind) alpha))) by (field; lra).
  rewrite <- (ln_exp ((alpha - 1) * r)).
  assert (M := Rmax_lub _ _ _ F B). pose proof (Rmax_l
    (sampled_response (fst kind) (snd kind) alpha) (removed_response (fst kind) (snd kind) alpha)).
  destruct M as [M|M]; [left; apply ln_increasing; lra | right; now rewrite M].
Qed.

Definition possible (runs : list (positive * (R * R))) : Prop :=
  Forall (fun x => 0 < fst (snd x) < 1) runs.

Lemma total_least alpha runs costs :
  1 < alpha -> possible runs -> response_costs alpha runs costs ->
  total (kinds_of runs) (least alpha) <= spent runs costs.
Proof.
  intros Ha V H. induction H as [|x r more others B _ IH]; simpl; [lra|].
  inversion V as [|? ? V1 V2]; subst.
  rewrite total_app, total_repeat, INR_IPR. change (IPR (fst x)) with (IZR (Zpos (fst x))).
  specialize (IH V2). pose proof (least_is_least alpha (snd x) r Ha V1 B) as L.
  assert (0 < IZR (Zpos (fst x))) by (apply IZR_lt; lia). nra.
Qed.

Lemma renyi_runs alpha runs costs schedule (s : strategy bool (length schedule)) :
  1 < alpha -> possible runs -> response_costs alpha runs costs ->
  Permutation schedule (kinds_of runs) -> scheduled response_of schedule s ->
  renyi (run s) alpha <= spent runs costs.
Proof.
  intros Ha V H P S0.
  eapply Rle_trans; [|apply (total_least alpha runs costs); assumption].
  rewrite <- (total_permutation _ _ _ P).
  apply (renyi_run response_of); [exact Ha | | exact S0].
  intros k d _ D. apply (response_bound alpha k); [exact Ha | | exact D].
  apply least_below; [exact Ha|]. now destruct D as (T & _).
Qed.

Theorem response_improved alpha runs costs epsilon delta :
  1 < alpha -> 0 < delta -> possible runs ->
  response_costs alpha runs costs -> spent runs costs + improved alpha delta <= epsilon ->
  forall schedule s, Permutation schedule (kinds_of runs) -> scheduled response_of schedule s ->
  protects (run s) epsilon delta.
Proof.
  intros Ha Hd V B H schedule s P S0. apply (improved_conversion _ alpha); [assumption..|].
  pose proof (renyi_runs alpha runs costs schedule s Ha V B P S0). lra.
Qed.

Theorem response_classic alpha runs costs epsilon delta :
  1 < alpha -> 0 < delta -> possible runs ->
  response_costs alpha runs costs -> spent runs costs + classic alpha delta <= epsilon ->
  forall schedule s, Permutation schedule (kinds_of runs) -> scheduled response_of schedule s ->
  protects (run s) epsilon delta.
Proof.
  intros Ha Hd V B H schedule s P S0. apply (classic_conversion _ alpha); [assumption..|].
  pose proof (renyi_runs alpha runs costs schedule s Ha V B P S0). lra.
Qed.
